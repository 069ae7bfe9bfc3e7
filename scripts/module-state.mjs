/**
 * Finds state that modules of the product keep between calls. A cached result is created by `memo` or `boundedMemo`, which
 * docs/reference/kept-results.md lists; other state belongs to an object with an owner. Exceptions are listed here.
 */
import { lineAt, parse, walk } from './syntax.mjs'

const marks = 'a mark on objects that do not change, kept for as long as each'
const types = 'by the name of a described type, of which there are some thousand'

/** The values that modules may change, by file, with their content and their bound. */
const stateFiles = {
  'services/orch/src/main.ts': { isOutputLost: 'whether the standard output of the process is closed' },
  'services/storage/src/store/directory-lock.ts': { held: 'the locks of the process, which end with the objects that hold them' },
  'shared/platform/src/pauses.ts': { waiting: 'work that waits for a turn of the event loop of the process, which its requests bound' },
  'shared/platform/src/backends/program.ts': { given: 'the free ports that tests of the process were given' },
  'shared/core/src/apply/apply.ts': { appliedFields: 'the fields of the last 4 configurations of a shape, kept for as long as the shape' },
  'shared/core/src/apply/check.ts': { ownableParts: `parts without problems: ${marks}` },
  'shared/core/src/apply/created-fields.ts': {
    createdFields: 'the fields of the last 4 outlines of a shape, kept for as long as the shape',
  },
  'shared/core/src/apply/ownership.ts': {
    reconciled: `sets that match their schema: ${marks}`,
    knownSets: `sets by their parsed or printed form: ${marks}`,
  },
  'shared/core/src/apply/shared-sets.ts': { lately: 'the last 16 sets of owned fields of a shape, kept for as long as the shape' },
  'shared/core/src/apply/type-shape.ts': { structShapes: 'the shape of a type, which may contain itself, kept for as long as the type' },
  'shared/core/src/catalogue/catalogue.ts': { shownGroups: `the groups that a catalogue was made of: ${marks}` },
  'shared/core/src/policies/declared.ts': { nodes: 'the views of the types of policies, which may contain themselves; by name, a dozen' },
  'shared/core/src/schema/decode.ts': {
    decoders: `decoders ${types}`,
    sharedParts: `parts that are read already: ${marks}`,
    freeLists: 'lists that no reading uses; as many as structs lie in each other',
    readers: 'the reader of a node, which may contain itself, kept for as long as the node',
  },
  'shared/core/src/schema/of-type.ts': { writtenKinds: `kinds ${types}` },
  'shared/core/src/schema/resolve.ts': {
    described: `types ${types}`,
    resolved: `types of a level ${types}`,
    levelsOfTypes: `levels ${types}`,
  },
  'shared/core/src/structural/readers.ts': { known: 'the hash of a schema, made in steps, kept for as long as the schema' },
  'shared/platform/src/tls/system-authorities.ts': { known: 'the authorities of the machine, read once' },
}

const collections = ['Map', 'Set', 'WeakMap', 'WeakSet']
const changing = ['set', 'add', 'delete', 'clear', 'push', 'pop', 'shift', 'unshift', 'splice']

/** The values that files change at module level, and unneeded entries of the list. */
export function checkModuleState(files, list = stateFiles) {
  const needless = new Map(Object.entries(list).map(([file, names]) => [file, new Set(Object.keys(names))]))
  const violations = files.flatMap(({ file, text }) =>
    stateOf(file, text).flatMap(({ line, name }) => {
      if (needless.get(file)?.delete(name)) return []
      return [`${file}:${line}: ${name} is changed by the module; make it a member of an object, or a memo`]
    }),
  )
  for (const [file, names] of needless) {
    for (const name of names) violations.push(`scripts/module-state.mjs lists ${name} in ${file}, which changes no such value`)
  }
  return violations
}

/** The variables of a module, and the collections that it changes. */
function stateOf(file, text) {
  const program = parse(file, text)
  const found = []
  const declared = new Map()
  for (const { node, declarator } of declaratorsOf(program)) {
    const place = { line: lineAt(text, declarator.start), name: declarator.id.name }
    if (node.kind !== 'const' || isEmptyCollection(declarator)) found.push(place)
    else if (isCollection(declarator)) declared.set(place.name, place)
  }
  if (declared.size === 0) return found
  walk(program, undefined, (node) => {
    const name = changedName(node)
    const place = declared.get(name)
    if (place === undefined) return
    declared.delete(name)
    found.push(place)
  })
  return found
}

/** The declarations at the level of the module, exported or not. */
function declaratorsOf({ body }) {
  return body.flatMap((statement) => {
    const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
    return node?.type === 'VariableDeclaration' ? node.declarations.map((declarator) => ({ node, declarator })) : []
  })
}

function isCollection({ id, init }) {
  if (id.type !== 'Identifier') return false
  if (init?.type === 'NewExpression') return collections.includes(init.callee.name)
  return init?.type === 'ArrayExpression' || init?.type === 'ObjectExpression'
}

/** An empty map or set is meant to be filled, unless its type forbids that. */
function isEmptyCollection(declarator) {
  const { id, init } = declarator
  const isReadonly = id.typeAnnotation?.typeAnnotation.typeName?.name?.startsWith('Readonly') === true
  return isCollection(declarator) && init.type === 'NewExpression' && init.arguments.length === 0 && !isReadonly
}

/** The name whose content a node changes. */
function changedName(node) {
  if (node.type === 'CallExpression' && changing.includes(node.callee.property?.name)) return node.callee.object.name
  if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression') return node.left.object.name
  if (node.type === 'UnaryExpression' && node.operator === 'delete') return node.argument.object?.name
  return undefined
}

/** The page that lists the state of modules. */
export function keptResultsPage(files, list = stateFiles) {
  const memos = files.flatMap(({ file, text }) => memosOf(file, text))
  const state = Object.entries(list).flatMap(([file, names]) =>
    Object.entries(names).map(([name, holds]) => `| \`${name}\` | \`${file}\` | ${holds} |`),
  )
  return [
    '# Results that modules keep',
    '',
    'For people who work on orch. `npm run lint` compares this page with the code; `node scripts/check-code.mjs --write` writes it.',
    '',
    `${memos.length} pure functions keep their results by \`memo\` or \`boundedMemo\` (\`shared/cel/src/memo.ts\`).`,
    '',
    '| function | file | kept | holds |',
    '|---|---|---|---|',
    ...memos.map(({ name, file, bound, holds }) => `| \`${name}\` | \`${file}\` | ${bound} | ${holds} |`),
    '',
    'Other values that a module changes, with their reasons in `scripts/module-state.mjs`:',
    '',
    '| value | file | holds |',
    '|---|---|---|',
    ...state,
    '',
  ].join('\n')
}

/** The memos of a file: module memos and object memos. */
function memosOf(file, text) {
  const found = []
  if (!/\b(?:memo|boundedMemo)\(/.test(text)) return found
  const program = parse(file, text)
  for (const { declarator } of declaratorsOf(program)) {
    const { id, init } = declarator
    if (init?.type !== 'CallExpression' || !['memo', 'boundedMemo'].includes(init.callee.name)) continue
    const [first] = init.arguments
    const bound = init.callee.name === 'memo' ? 'as long as its argument' : `at most ${numberOf(program, first)}`
    found.push({ name: id.name, file, bound, holds: commentBefore(text, declarator.start) })
  }
  return found
}

/** The number in an expression or a constant of the file. */
function numberOf(program, node) {
  if (node.type !== 'Identifier') return node.value
  return declaratorsOf(program).find(({ declarator }) => declarator.id.name === node.name)?.declarator.init.value
}

/** The first sentence of the comment above a declaration. */
function commentBefore(text, start) {
  const lineStart = text.lastIndexOf('\n', start) + 1
  const [, comment = ''] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n$/.exec(text.slice(0, lineStart)) ?? []
  const [sentence = ''] = /^.*?[.:;](?= |$)/.exec(comment.replace(/\s*\n\s*\* ?/g, ' ').trim()) ?? []
  return sentence.replace(/[:;]$/, '.').replaceAll('|', '\\|')
}

/** Memos without a comment, for which the page has no description. */
export function checkMemoComments(files) {
  return files
    .flatMap(({ file, text }) => memosOf(file, text))
    .filter(({ holds }) => holds === '')
    .map(({ file, name }) => `${file}: ${name} keeps results and has no comment that says what they are`)
}
