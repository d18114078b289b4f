/** The schema of the built-in editor, from the file that the server reads, with its rules for attributes. */
import { readFileSync } from 'node:fs';
import { Schema } from 'prosemirror-model';

const file = new URL('../../../crates/rich-text/schema.json', import.meta.url);
const spec = JSON.parse(readFileSync(file, 'utf8'));

const formats = {
  integer: (value) => Number.isSafeInteger(value),
  reference: (value) => /^[0-9A-Za-z][0-9A-Za-z._-]*$/.test(value),
  link: (value) => /^(https?:\/\/|mailto:)[^\s\p{Cc}]*$/iu.test(value),
  language: (value) => /^[0-9A-Za-z-]+$/.test(value),
  column_widths: (value) =>
    Array.isArray(value) &&
    value.length <= 1000 &&
    value.every((width) => width === null || (Number.isInteger(width) && width >= 0 && width <= 20000)),
};

function typeName(value) {
  return value === null ? 'null' : typeof value;
}

function accepts(rule, value) {
  if (!rule.validate.split('|').includes(typeName(value))) return false;
  if (value === null) return true;
  if (rule.oneOf && !rule.oneOf.includes(value)) return false;
  if (rule.maxLength !== undefined && value.length > rule.maxLength) return false;
  if (rule.minimum !== undefined && value < rule.minimum) return false;
  if (rule.maximum !== undefined && value > rule.maximum) return false;
  return rule.format === undefined || formats[rule.format](value);
}

function withValidators(attrs = {}) {
  const entries = Object.entries(attrs).map(([name, rule]) => {
    const validate = (value) => {
      if (!accepts(rule, value)) throw new RangeError(`invalid value of attribute ${name}`);
    };
    return [name, { ...rule, validate }];
  });
  return Object.fromEntries(entries);
}

function prepare(types) {
  const entries = Object.entries(types).map(([name, type]) => [name, { ...type, attrs: withValidators(type.attrs) }]);
  return Object.fromEntries(entries);
}

export const schema = new Schema({ ...spec, nodes: prepare(spec.nodes), marks: prepare(spec.marks) });
