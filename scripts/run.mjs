/** `npm run <what>`: sets up what is missing, then does it. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build, bundleServer, cacheFolder, prepare, root, SetupError, say } from './bootstrap.mjs'
import { runChild } from './children.mjs'
import { countTests } from './test-report.mjs'

const serverProject = 'services/orch'
const serverEntry = join(root, serverProject, 'dist/main.js')
const benchEntry = join(root, 'test/bench/main.ts')
/** Room for new objects begins at 12 MB, which spares the start an eighth of its CPU, and ends at 48 MB: it never shrinks. */
const serverNodeFlags = ['--max-semi-space-size=16', '--min-semi-space-size=4']
const endWithParent = new URL('./end-with-parent.mjs', import.meta.url).href

const commands = { start, test, bench, requirements, lint, dev, golden }

const [name, ...args] = process.argv.slice(2)
const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined
try {
  if (command === undefined) throw new SetupError(`Unknown command ${name ?? ''}: one of ${Object.keys(commands).join(', ')} was expected.`)
  process.exitCode = await command(args)
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function start(args) {
  const node = prepare()
  buildServer()
  return runChild(node, [...serverNodeFlags, '--import', endWithParent, await bundleServer(), 'up', ...args])
}

async function dev(args) {
  const node = prepare()
  buildServer()
  const compiler = [join(root, 'node_modules/typescript/bin/tsc'), '-b', '--watch', '--preserveWatchOutput', serverProject]
  const server = [
    ...serverNodeFlags,
    '--enable-source-maps',
    '--import',
    endWithParent,
    '--watch',
    '--watch-preserve-output',
    serverEntry,
    'up',
    ...args,
  ]
  const codes = await Promise.all([runChild(node, compiler, { cwd: root }), runChild(node, server)])
  return Math.max(...codes)
}

async function test(args) {
  const node = prepare()
  if (build(serverProject, 'the server')) await bundleServer()
  const isBuilt = build('.', 'everything')
  if (!isBuilt) say('the build has errors, so this run fails whatever the tests say')
  const code = await runTests(node, args)
  return isBuilt ? code : code || 1
}

async function golden(args) {
  const node = prepare()
  if (build('.', 'everything')) await bundleServer()
  return runTests(node, ['--update', ...args])
}

/** Only a whole run leaves the report that `requirements` reads; a filtered one leaves its own. */
async function runTests(node, args) {
  const report = join(cacheFolder, args.length === 0 ? 'test-report.json' : 'test-report-partial.json')
  rmSync(report, { force: true })
  const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts/test-reporter.mjs')}`]
  const environment = { ...process.env, TEST_REPORT_FILE: report }
  const code = await runChild(node, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...reporters, ...args], {
    cwd: root,
    env: environment,
  })
  if (!existsSync(report)) throw new SetupError('The tests ended without a report.')
  const { passed, failed, skipped } = countTests(JSON.parse(readFileSync(report, 'utf8')))
  process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`)
  return code
}

async function bench(args) {
  const node = prepare()
  buildServer()
  await bundleServer()
  return runChild(node, [benchEntry, ...args], { cwd: root })
}

async function requirements(args) {
  const { main } = await import('./requirements.mjs')
  return main(args)
}

async function lint(args) {
  const node = prepare()
  const biome = await runChild(node, [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', ...args], { cwd: root })
  const { main } = await import('./check-imports.mjs')
  const imports = main()
  return biome || imports
}

function buildServer() {
  if (!build(serverProject, 'the server')) throw new SetupError('The server does not compile; the errors stand above.')
  if (!existsSync(serverEntry))
    throw new SetupError(`${serverEntry} is missing after the build; remove the dist folders and run this again.`)
}
