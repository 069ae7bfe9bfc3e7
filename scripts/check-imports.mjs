/**
 * The import rules of the workspace: packages import only allowed packages, core stays pure, imports are declared, neither files nor folders import each
 * other in a circle, names with the product's word are spelled in one file only, and time comes from a clock.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, posix, relative, resolve, sep } from 'node:path'
import { packageFolders } from './bootstrap.mjs'
import { gatewayFloors } from './gateway-floors.mjs'
import { root } from './root.mjs'

const beneath = ['@orch/core', '@orch/platform']
const services = ['@orch/storage', '@orch/watch', '@orch/admission', '@orch/controllers', '@orch/nodes', '@orch/gateway']

/** The workspace packages that each package may import. */
const mayImport = {
  '@orch/cel': [],
  '@orch/core': ['@orch/cel'],
  '@orch/platform': ['@orch/core'],
  '@orch/client': ['@orch/core'],
  '@orch/testkit': [...beneath, '@orch/client'],
  '@orch/storage': beneath,
  '@orch/watch': beneath,
  '@orch/admission': beneath,
  '@orch/gateway': beneath,
  '@orch/controllers': [...beneath, '@orch/client'],
  '@orch/nodes': [...beneath, '@orch/client'],
  '@orch/console': ['@orch/core'],
  '@orch/ctl': [...beneath, '@orch/client'],
  orch: [...beneath, '@orch/client', '@orch/ctl', ...services],
}
const ours = Object.keys(mayImport)

/** Packages without clock, network and process. */
const pure = ['@orch/cel', '@orch/core']

/** Packages whose files are on floors. */
const floorsOf = { '@orch/gateway': gatewayFloors }

/** Maximum number of imports that a violation lists between two folders. */
const passageImportsShown = 5

/** Names that belong to a profile are defined here, and the API description may quote them. */
const namesFile = 'shared/core/src/names.ts'
const descriptions = ['shared/core/src/api/']
const profileName = /k8s\.io|kubernetes\.io|orch\.io|orch-system|kube-system/

/** The command: prints each violation, and returns 1 if there are any. */
export function main() {
  const packages = packageFolders().flatMap((folder) => checkPackage(readPackage(folder)))
  const violations = [...packages, ...findCircles(innerImports(readScripts()))]
  for (const { file, line, message } of violations) process.stderr.write(`${file}:${line}: ${message}\n`)
  if (violations.length === 0) process.stdout.write('The import rules are kept.\n')
  return violations.length === 0 ? 0 : 1
}

/** The violations of a package, given as its name, its dependencies and its files by their path from the root. */
export function checkPackage({ name, folder, dependencies, files }) {
  const inner = innerImports(files)
  const circles = findCircles(inner)
  return [
    ...checkFiles({ name, folder, dependencies, files }),
    ...circles,
    // A circle of files also connects their folders, and is reported once.
    ...(circles.length > 0 ? [] : findFolderCircles(inner, `${folder}/src`)),
    ...checkFloors(inner, { name, floors: floorsOf[name], source: `${folder}/src/` }),
  ]
}

/** Files that end with -testing are parts of tests. */
function isOfTests(file) {
  return /(?:\.test|-testing)\.m?ts$/.test(file)
}

function checkFiles({ name, folder, dependencies, files }) {
  return Object.entries(files).flatMap(([file, text]) => {
    const isTest = isOfTests(file)
    const imports = importsOf(text).flatMap(({ specifier, line }) => {
      const message = checkImport({ name, folder, dependencies, file, isTest, specifier })
      return message === undefined ? [] : [{ file, line, message }]
    })
    return isTest ? imports : [...imports, ...checkNames(file, text)]
  })
}

function checkImport({ name, folder, dependencies, file, isTest, specifier }) {
  if (specifier.startsWith('.')) {
    const target = relative(folder, join(dirname(file), specifier))
    return target.startsWith('..') ? `${specifier} leaves the package; import it by its name` : undefined
  }
  const target = packageOf(specifier)
  if (ours.includes(target)) {
    const allowed = isTest ? [...(mayImport[name] ?? []), name, '@orch/testkit'] : (mayImport[name] ?? [])
    return allowed.includes(target) ? undefined : `${name} may not import ${target}`
  }
  if (isTest) return undefined
  if (specifier.startsWith('node:') || isBuiltin(specifier))
    return pure.includes(name) ? `${name} is pure and may not import ${specifier}` : undefined
  return dependencies.includes(target) ? undefined : `${target} is not a dependency of ${name}`
}

/** The imports of each file from its own package, by path, with the line. No other file imports tests. */
function innerImports(files) {
  const sources = Object.entries(files).filter(([file]) => !isOfTests(file))
  return new Map(
    sources.map(([file, text]) => {
      const near = importsOf(text).filter(({ specifier }) => specifier.startsWith('.'))
      const targets = near.map(({ specifier, line }) => ({ target: posix.join(posix.dirname(file), specifier), line }))
      return [file, targets.filter(({ target }) => Object.hasOwn(files, target))]
    }),
  )
}

/** A violation for each group of files that import each other, directly or through others. */
function findCircles(imports) {
  const graph = new Map([...imports].map(([file, targets]) => [file, targets.map(({ target }) => target)]))
  return circlesOf(graph).map((circle) => ({
    file: circle[0],
    line: imports.get(circle[0]).find(({ target }) => circle.includes(target)).line,
    message: `${circle.length} files import each other in a circle: ${circle.join(', ')}`,
  }))
}

/**
 * A violation for each group of rooms of a folder that import each other. A room is a folder with its contents, or a file next to it. The message lists
 * the imports from room to room, the fewest first, since those are the likely mistakes.
 */
function findFolderCircles(imports, folder) {
  const roomOf = (file) => (file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/')[0] : undefined)
  const rooms = new Map()
  const passages = new Map()
  for (const [file, targets] of imports) {
    const room = roomOf(file)
    if (room === undefined) continue
    if (!rooms.has(room)) rooms.set(room, new Set())
    for (const { target, line } of targets) {
      const other = roomOf(target)
      if (other === undefined || other === room) continue
      rooms.get(room).add(other)
      const passage = `${room} → ${other}`
      passages.set(passage, [...(passages.get(passage) ?? []), { file, line, target }])
    }
  }
  const circles = circlesOf(rooms).map((circle) => {
    const inside = circle.flatMap((room) => circle.map((other) => `${room} → ${other}`)).filter((passage) => passages.has(passage))
    const byCount = inside.sort((left, right) => passages.get(left).length - passages.get(right).length)
    const listed = byCount.flatMap((passage) => {
      const found = passages.get(passage)
      const shown = found.slice(0, passageImportsShown).map(({ file, line, target }) => `\n    ${file}:${line} imports ${target}`)
      return [`\n  ${passage} (${found.length})`, ...shown]
    })
    const [{ file, line }] = passages.get(byCount[0])
    return { file, line, message: `folders of ${folder} import each other in a circle: ${circle.join(', ')}${listed.join('')}` }
  })
  const below = [...rooms.keys()].filter((room) => !room.endsWith('.ts'))
  return [...circles, ...below.flatMap((room) => findFolderCircles(imports, `${folder}/${room}`))]
}

/** The groups that reach each other in a graph, given as the targets of each node: its strongly connected components (Tarjan), sorted. */
function circlesOf(graph) {
  const order = new Map()
  const lowest = new Map()
  const open = []
  const circles = []
  const visit = (node) => {
    order.set(node, order.size)
    lowest.set(node, order.get(node))
    open.push(node)
    for (const target of graph.get(node) ?? []) {
      if (!order.has(target)) visit(target)
      if (open.includes(target)) lowest.set(node, Math.min(lowest.get(node), lowest.get(target)))
    }
    if (lowest.get(node) !== order.get(node)) return
    const circle = open.splice(open.indexOf(node)).sort()
    if (circle.length > 1 || [...(graph.get(node) ?? [])].includes(node)) circles.push(circle)
  }
  for (const node of graph.keys()) if (!order.has(node)) visit(node)
  return circles
}

function checkFloors(imports, { name, floors, source }) {
  if (floors === undefined) return []
  const floorOf = (file) => {
    const path = file.slice(source.length)
    const fitting = floors.flatMap(({ paths }, level) =>
      paths.filter((one) => one === path || (one.endsWith('/') && path.startsWith(one))).map((one) => ({ level, length: one.length })),
    )
    return fitting.sort((left, right) => right.length - left.length)[0]?.level
  }
  return [...imports].flatMap(([file, targets]) => {
    const own = floorOf(file)
    if (own === undefined) return [{ file, line: 1, message: `no floor of ${name} lists this file; see scripts/gateway-floors.mjs` }]
    return targets.flatMap(({ target, line }) => {
      const other = floorOf(target)
      if (other === undefined || other <= own) return []
      const message = `the floor ${floors[own].name} may not import ${target.slice(source.length)} of the floor ${floors[other].name} above it`
      return [{ file, line, message }]
    })
  })
}

function checkNames(file, text) {
  if (file === namesFile || descriptions.some((path) => file.startsWith(path))) return []
  return text.split('\n').flatMap((content, index) => {
    const found = isComment(content) ? null : profileName.exec(content)
    return found === null ? [] : [{ file, line: index + 1, message: `${found[0]} is spelled here; take it from the profile's names` }]
  })
}

function isComment(line) {
  return /^\s*(\/\/|\/\*|\*)/.test(line)
}

function importsOf(text) {
  const pattern = /(?:^|[^\w.$'"])(?:from|import)\s*\(?\s*(['"])([^'"\n]+)\1/g
  return [...text.matchAll(pattern)]
    .map((match) => ({ specifier: match[2], line: text.slice(0, match.index + match[0].length).split('\n').length }))
    .filter(({ line }) => !isComment(text.split('\n')[line - 1]))
}

function packageOf(specifier) {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function readPackage(folder) {
  const { name, dependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const paths = listFiles(join(root, folder, 'src')).map((path) => [relative(root, path).split(sep).join('/'), readFileSync(path, 'utf8')])
  return { name, folder, dependencies: Object.keys(dependencies), files: Object.fromEntries(paths) }
}

/** The scripts of the workspace, without tests. */
function readScripts() {
  const paths = readdirSync(join(root, 'scripts'), { recursive: true }).filter(
    (path) => path.endsWith('.mjs') && !path.endsWith('.test.mjs'),
  )
  return Object.fromEntries(
    paths.map((path) => [`scripts/${path.split(sep).join('/')}`, readFileSync(join(root, 'scripts', path), 'utf8')]),
  )
}

function listFiles(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = resolve(folder, entry.name)
    if (entry.isDirectory()) return listFiles(path)
    return /\.tsx?$/.test(entry.name) ? [path] : []
  })
}
