// Renders pages with a few workers, which are taken from a pool and given back.
'use strict';

class Pool {
  constructor(workers) {
    this.free = [...workers];
    this.waiting = [];
    this.given = 0;
  }

  async take(deadline) {
    if (this.free.length > 0) {
      this.given += 1;
      return this.free.pop();
    }
    const waiter = { deadline };
    const worker = new Promise((resolve) => {
      waiter.resolve = resolve;
    });
    this.waiting.push(waiter);
    this.waiting.sort((one, other) => one.deadline - other.deadline);
    return await worker;
  }

  give(worker) {
    const next = this.waiting.shift();
    if (next === undefined) {
      this.free.push(worker);
      return;
    }
    this.given += 1;
    next.resolve(worker);
  }
}

class Renderer {
  constructor(pool, templates) {
    this.pool = pool;
    this.templates = templates;
    this.pages = new Map();
  }

  async render(name, deadline) {
    const worker = await this.pool.take(deadline);
    const parts = [];
    for (const part of this.templates[name]) {
      parts.push(await this.part(worker, part, deadline));
    }
    this.pool.give(worker);
    this.pages.set(name, parts.join(' '));
    return this.pages.get(name);
  }

  async part(worker, part, deadline) {
    if (!part.startsWith('@')) {
      return `${worker}:${part}`;
    }
    // A page within a page is rendered as any other.
    const included = part.slice(1);
    return this.pages.get(included) ?? (await this.render(included, deadline));
  }
}

async function main() {
  const pool = new Pool(['ada', 'bob']);
  const renderer = new Renderer(pool, {
    start: ['title', '@news', 'footer'],
    news: ['one', 'two'],
    shop: ['articles', '@offers'],
    offers: ['half', 'price'],
    legal: ['terms'],
  });
  console.log(await renderer.render('legal', 5));
  console.log(await renderer.render('start', 5));
  const keep = setInterval(() => {}, 1000);
  renderer.pages.clear();
  const pages = await Promise.all(['start', 'shop'].map((name, at) => renderer.render(name, at)));
  clearInterval(keep);
  console.log(pages.join('\n'));
}

main();
