const keywords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
const escapable = /^[A-Za-z_][A-Za-z0-9_./-]*$/

/** The name by which an expression selects a property; undefined for a property that no expression can select. */
export function escapeProperty(name: string): string | undefined {
  if (keywords.has(name)) return `__${name}__`
  if (!escapable.test(name)) return undefined
  return name.replace(/__|[./-]/g, (part) => escapes[part] ?? part)
}

/** Keywords that cannot be selected as fields. */
const unselectable = new Set(['true', 'false', 'null', 'in'])

/** All names by which an expression selects a property: a keyword is also available unescaped. */
export function namesOfProperty(name: string): readonly string[] {
  const escaped = escapeProperty(name)
  if (escaped === undefined) return []
  return keywords.has(name) && !unselectable.has(name) ? [escaped, name] : [escaped]
}

const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}
