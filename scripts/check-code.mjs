/**
 * Counts with a bound for product code: the lines of a file and of a function, casts, non-null assertions (`!`), and positional parameters of a
 * function. Tests and shared test code are not counted, except for doubles that tests force into a type (`as never`). For the machine's time, timers and
 * chance see `machine-calls.mjs`.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkMachineCalls } from './machine-calls.mjs'
import { checkMemoComments, checkModuleState, keptResultsPage } from './module-state.mjs'
import { root } from './root.mjs'
import { lineAt, parse, walk } from './syntax.mjs'

/** The bounds. When a count falls, its bound is lowered too. */
const bounds = { lines: 500, functionLines: 100, casts: 191, claims: 94, parameters: 5, doubles: 33 }

/** A function counts from this number of positional parameters on. */
const parametersMany = 5

/** Descriptions of types and the bootstrap roles are data. */
const data = [/^shared\/core\/src\/api\//, /^shared\/core\/src\/rbac\/policy\.ts$/]

/** The command: prints the violations, and returns 1 if there are any. `--list` prints all casts. */
function main() {
  const names = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' }).split('\n')
  const files = names.filter(isProduct).flatMap((file) => readIfThere(file))
  const tests = names.filter((file) => /\.(?:ts|mts)$/.test(file) && !isProduct(file)).flatMap((file) => readIfThere(file))
  const violations = [...checkCode(files, { tests }), ...checkMachineCalls(files), ...checkModuleState(files), ...checkMemoComments(files)]
  violations.push(...checkKeptResults(files))
  for (const violation of violations) process.stderr.write(`${violation}\n`)
  const { casts, claims, parameters } = countCode(files)
  const doubles = findDoubles(tests)
  const listed = process.argv.includes('--list') ? [...casts, ...claims, ...doubles] : []
  for (const { file, line, text } of listed) process.stdout.write(`${file}:${line}: ${text}\n`)
  const many = `${parameters.length} functions with ${parametersMany} or more parameters by position`
  process.stdout.write(`${casts.length} casts, ${claims.length} claims by !, ${many}; ${doubles.length} doubles as never in tests.\n`)
  return violations.length === 0 ? 0 : 1
}

const keptResults = 'docs/reference/kept-results.md'

/** Writes the page of kept results, or compares it with the code. */
function checkKeptResults(files) {
  const page = keptResultsPage(files)
  if (process.argv.includes('--write')) writeFileSync(join(root, keptResults), page)
  const [{ text = '' } = {}] = readIfThere(keptResults)
  return text === page ? [] : [`${keptResults} does not show what modules keep; \`node scripts/check-code.mjs --write\` writes it`]
}

/** True for files of product code. */
export function isProduct(file) {
  return (
    /^(?:services|shared)\/[^/]+\/src\/.*\.ts$/.test(file) && !/\.(?:test|chaos)\.ts$/.test(file) && !file.startsWith('shared/testkit/')
  )
}

/** A file that is deleted but not yet committed counts as absent. */
function readIfThere(file) {
  try {
    return [{ file, text: readFileSync(join(root, file), 'utf8') }]
  } catch {
    return []
  }
}

/** The violations in files of the product and in tests, given by their paths and texts. */
export function checkCode(files, { tests = [], ...given } = {}) {
  const { lines, functionLines, casts, claims, parameters, doubles } = { ...bounds, ...given }
  const counted = countCode(files)
  const long = files
    .filter(({ file }) => !data.some((pattern) => pattern.test(file)))
    .map(({ file, text }) => ({ file, count: text.split('\n').length - 1 }))
    .filter(({ count }) => count > lines)
  return [
    ...long.map(({ file, count }) => `${file}: ${count} lines; at most ${lines} are allowed outside data: split it by role`),
    ...counted.functions
      .filter(({ file, count }) => count > functionLines && !data.some((pattern) => pattern.test(file)))
      .map(({ file, line, count }) => `${file}:${line}: a function of ${count} lines; at most ${functionLines} are allowed outside data`),
    ...beyond(counted.casts, casts, 'casts, and calls of functions that do nothing else'),
    ...beyond(counted.claims, claims, 'claims by ! that a value is there; check it, or take `at(list, index)`'),
    ...beyond(findDoubles(tests), doubles, 'values that tests force into a type by `as never`; take a builder of the full type'),
    ...beyond(counted.parameters, parameters, `functions with ${parametersMany} or more parameters by position; take an object`),
  ]
}

function beyond(found, bound, what) {
  if (found.length <= bound) return []
  const places = found.map(({ file, line, text }) => `  ${file}:${line}: ${text}`)
  return [`${found.length} ${what}; at most ${bound} are allowed:\n${places.join('\n')}`]
}

/** The values of tests that are forced into a type. */
function findDoubles(tests) {
  return tests.flatMap(({ file, text }) => {
    const found = []
    // Only tests with this text are parsed, as there are nine hundred tests.
    if (!text.includes('as never')) return found
    walk(parse(file, text), undefined, (node) => {
      if (node.type === 'TSAsExpression' && node.typeAnnotation.type === 'TSNeverKeyword')
        found.push({ file, line: lineAt(text, node.start), text: textOf(text, node) })
    })
    return found
  })
}

/** The casts, the non-null assertions, and the functions of files: their lines, and those with many parameters. */
export function countCode(files) {
  const parsed = files.map(({ file, text }) => ({ file, text, program: parse(file, text), helpers: new Set() }))
  const casts = []
  const claims = []
  const functions = []
  const parameters = []
  for (const { file, text, program, helpers } of parsed) {
    const place = (node) => ({ file, line: lineAt(text, node.start), text: textOf(text, node) })
    walk(program, undefined, (node, parent) => {
      if (isCast(node) && !isCast(parent)) casts.push(place(node))
      if (node.type === 'TSNonNullExpression') claims.push(place(node))
      if (!isFunction(node)) return
      functions.push({ file, line: lineAt(text, node.start), count: lineAt(text, node.end) - lineAt(text, node.start) + 1 })
      if (node.params.length >= parametersMany) parameters.push(place(node))
      const name = node.id?.name ?? (parent?.type === 'VariableDeclarator' ? parent.id.name : undefined)
      if (name !== undefined && isCast(bodyOf(node)) && unwrapped(bodyOf(node)).type !== 'ObjectExpression') helpers.add(name)
    })
  }
  const helpersOf = new Map(parsed.map(({ file, helpers }) => [file, helpers]))
  for (const { file, text, program } of parsed) {
    const known = new Set([...(helpersOf.get(file) ?? []), ...importedHelpers(file, program, helpersOf)])
    if (known.size === 0) continue
    walk(program, undefined, (node) => {
      if (node.type !== 'CallExpression' || !known.has(node.callee.name)) return
      casts.push({ file, line: lineAt(text, node.start), text: textOf(text, node) })
    })
  }
  return { casts, claims, functions, parameters }
}

/** `as const` asserts nothing about a value. */
function isCast(node) {
  if (node?.type === 'TSTypeAssertion') return true
  return node?.type === 'TSAsExpression' && node.typeAnnotation.typeName?.name !== 'const'
}

/** The expression inside a cast. */
function unwrapped(node) {
  let inner = node
  while (isCast(inner) || inner.type === 'ParenthesizedExpression') inner = inner.expression
  return inner
}

function isFunction({ type, body }) {
  return (type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression') && Boolean(body)
}

/** The returned expression of a function that only returns. */
function bodyOf({ body }) {
  let only = body
  if (body.type === 'BlockStatement')
    only = body.body.length === 1 && body.body[0].type === 'ReturnStatement' ? body.body[0].argument : undefined
  while (only?.type === 'ParenthesizedExpression') only = only.expression
  return only
}

/** The casting functions that a file imports, by their local names. */
function importedHelpers(file, program, helpersOf) {
  const imports = program.body.filter(({ type }) => type === 'ImportDeclaration')
  return imports.flatMap(({ source, specifiers }) => {
    const helpers = source.value.startsWith('.')
      ? helpersOf.get(join(dirname(file), source.value).replaceAll('\\', '/'))
      : new Set(source.value.startsWith('@orch/') ? [...helpersOf.values()].flatMap((names) => [...names]) : [])
    return specifiers.filter(({ imported }) => helpers?.has(imported?.name)).map(({ local }) => local.name)
  })
}

function textOf(text, { start, end }) {
  return text.slice(start, end).replace(/\s+/g, ' ').slice(0, 120)
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) process.exitCode = main()
