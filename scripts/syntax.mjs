/** The syntax trees of TypeScript files, for the checks of code. */
import { parseSync } from 'rolldown/utils'

/** The tree of a file. */
export function parse(file, text) {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  return program
}

/** Calls back for each node with its parent. */
export function walk(value, parent, visit) {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, parent, visit)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const isNode = typeof value.type === 'string'
  if (isNode) visit(value, parent)
  for (const name of Object.keys(value)) walk(value[name], isNode ? value : parent, visit)
}

/** The number of the line at an offset, from 1. */
export function lineAt(text, offset) {
  return text.slice(0, offset).split('\n').length
}
