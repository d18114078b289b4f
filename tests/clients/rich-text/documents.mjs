/** Random text, marks and documents. */
import { schema } from './schema.mjs';

const { nodes, marks } = schema;

const words = [
  'river', 'water', 'a', 'Wort', 'größer', 'naïve', 'Ärger', '水', '日本語', 'مرحبا', '😀', '👩‍👩‍👧‍👦', '🏳️‍🌈', '𝒳𝒴', 'e\u0301', '\u00a0', '\u0001',
  '🇩🇪🇫🇷', '"quoted"', '\\', '<b>', '\t', '😀😁😂', 'x'.repeat(30),
];

export function text(random, most = 4) {
  const count = 1 + random.below(most);
  return Array.from({ length: count }, () => random.pick(words)).join(random.chance(0.5) ? ' ' : '');
}

export function mark(random) {
  const type = random.pick(Object.values(marks));
  if (type === marks.link) return type.create({ href: random.pick(['https://example.org/a?b=c', 'mailto:a@example.org', 'HTTP://example.org']) });
  if (type === marks.highlight) return type.create(random.chance(0.3) ? null : { color: random.pick(['yellow', 'green', 'gray']) });
  if (type === marks.color) return type.create({ color: random.pick(['black', 'teal', 'red']) });
  return type.create();
}

export function markSet(random) {
  let set = [];
  while (random.chance(0.35)) set = mark(random).addToSet(set);
  return set;
}

export function inlineAtom(random) {
  const set = markSet(random);
  switch (random.below(4)) {
    case 0:
      return nodes.hard_break.create(null, null, set);
    case 1:
      return nodes.footnote.create({ text: text(random) }, null, set);
    case 2:
      return nodes.island_inline.create({ id: `i${random.below(99)}`, label: text(random) }, null, set);
    default:
      return nodes.image.create(imageAttrs(random), null, set);
  }
}

export function imageAttrs(random) {
  return {
    src: `image-${random.below(50)}.png`,
    alt: random.chance(0.5) ? text(random) : '',
    title: random.chance(0.3) ? text(random) : null,
    width: random.chance(0.5) ? 1 + random.below(2000) : null,
  };
}

export function inline(random) {
  const content = [];
  while (random.chance(0.75)) {
    content.push(random.chance(0.15) ? inlineAtom(random) : schema.text(text(random), markSet(random)));
  }
  return content;
}

export function textBlockAttrs(random) {
  return {
    align: random.pick([null, null, 'left', 'center', 'right', 'justify']),
    style: random.pick([null, null, 'Quote', 'Überschrift 😀']),
    source: random.chance(0.3) ? random.below(1000) : null,
  };
}

export function paragraph(random) {
  return nodes.paragraph.create(textBlockAttrs(random), inline(random));
}

function blocks(random, depth, first = []) {
  const list = [...first];
  while (!list.length || random.chance(0.4)) list.push(block(random, depth));
  return list;
}

function repeat(random, make) {
  return Array.from({ length: 1 + random.below(3) }, make);
}

export function table(random, depth) {
  const columns = 1 + random.below(3);
  const row = (type) => {
    const cell = () => type.create({ colwidth: random.chance(0.2) ? [10 + random.below(200)] : null }, blocks(random, depth + 1));
    return nodes.table_row.create(null, Array.from({ length: columns }, cell));
  };
  const header = random.chance(0.5) ? [row(nodes.table_header)] : [];
  return nodes.table.create(null, [...header, ...repeat(random, () => row(nodes.table_cell))]);
}

export function block(random, depth = 0) {
  const kind = random.below(depth > 3 ? 5 : 14);
  const item = (type, attrs) => type.create(attrs, blocks(random, depth + 2, [paragraph(random)]).slice(0, 1 + random.below(2)));
  switch (kind) {
    case 4:
      return nodes.code_block.create(null, random.chance(0.8) ? schema.text(text(random) + '\n') : null);
    case 5:
    case 6:
      return nodes.heading.create({ ...textBlockAttrs(random), level: 1 + random.below(4) }, inline(random));
    case 7:
      return nodes.bullet_list.create(null, repeat(random, () => item(nodes.list_item)));
    case 8:
      return nodes.ordered_list.create({ start: random.below(5) }, repeat(random, () => item(nodes.list_item)));
    case 9:
      return nodes.check_list.create(null, repeat(random, () => item(nodes.check_item, { checked: random.chance(0.5) })));
    case 10:
      return nodes.blockquote.create(null, blocks(random, depth + 1));
    case 11:
      return table(random, depth);
    case 12:
      return random.pick([nodes.horizontal_rule, nodes.page_break]).create();
    case 13:
      return nodes.island_block.create({ id: `b${random.below(99)}`, kind: 'chart', label: text(random) });
    default:
      return paragraph(random);
  }
}

export function document(random) {
  const content = Array.from({ length: 1 + random.below(12) }, () => block(random));
  return nodes.doc.create({ language: random.pick([null, 'de', 'en-GB']) }, content);
}
