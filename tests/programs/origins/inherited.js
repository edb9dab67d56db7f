// Values that come by a prototype, and items that come by another name.
const base = { level: 1 };
const child = Object.create(base);
base.level = 7;
const defaults = { tags: [] };
const copy = { ...defaults };
copy.tags.push('n');
const level = child.level;
const { tags } = defaults;
console.log(level, tags);
