/** Inserts a call at the beginning of each function, so that a run can report the order in which functions were entered. */
import { parse } from 'acorn'
import { full } from 'acorn-walk'

/** `code` with `call` at the beginning of every function body. */
export function instrument(code, call) {
  const insertions = []
  full(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return
    if (node.body.type === 'BlockStatement') insertions.push([node.body.start + 1, `${call};`])
    else insertions.push([node.body.start, `(${call},`], [node.body.end, ')'])
  })
  return insert(code, insertions)
}

function insert(code, insertions) {
  // At one position ends precede begins, and both keep their order.
  const ordered = insertions.toSorted(([a], [b]) => a - b)
  const pieces = []
  let last = 0
  for (const [at, text] of ordered) {
    pieces.push(code.slice(last, at), text)
    last = at
  }
  return [...pieces, code.slice(last)].join('')
}
