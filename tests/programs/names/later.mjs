export const dynamic = (a) => {
  return a * 5;
};
