#pragma once
namespace {
int same(int a, int b) {
  return a * b;
}
}
static int second(int a) {
  return same(a, 3);
}
