/** `npm run <task>`: sets up missing parts, then runs the task. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build, bundleServer, cacheFolder, prepare, SetupError, say } from './bootstrap.mjs'
import { runChild, runChildToEnd } from './children.mjs'
import { root } from './root.mjs'
import { countTests, describeFailures, describeSkipped, partialReportOf, toPartialReport } from './test-report.mjs'

const serverProject = 'services/orch'
const serverEntry = join(root, serverProject, 'dist/main.js')
/** `youngHeapFlags` of services/orch/src/process/v8.ts, which is not compiled yet. */
const youngHeapFlags = ['--max-semi-space-size=16', '--min-semi-space-size=8']
const serverNodeFlags = process.env.ORCH_V8_FLAGS === 'default' ? [] : youngHeapFlags
const endWithParent = new URL('./end-with-parent.mjs', import.meta.url).href
const journeyRecorder = new URL('./journey/recorder.mjs', import.meta.url).href

const commands = {
  start,
  orch,
  test,
  'test:chaos': (args) => testApart('vitest.chaos.config.ts', args),
  'test:clients': (args) => testApart('vitest.clients.config.ts', args),
  'test:console': (args) => testApart('vitest.console.config.ts', args),
  fuzz,
  bench: program([buildServer, bundleServer, buildTestkit], 'test/bench/main.ts'),
  // The compiled files instead of the bundle, so that profiles show the original file names.
  profile: program([buildServer, buildTestkit], 'test/profile/main.ts'),
  soak: program([buildServer, bundleServer], 'test/soak/soak.ts'),
  cycles: program([buildServer], 'test/soak/cycles.ts', ['--expose-gc', '--no-maglev']),
  abuse: program([buildServer], 'test/abuse/stalls.ts', serverNodeFlags),
  journey: program([buildServer], 'scripts/journey/journey.mjs', ['--import', journeyRecorder]),
  requirements,
  mutate,
  lint,
  dev,
  golden,
  package: program([buildServer, bundleServer], 'scripts/package.mjs'),
  // The documents as a site; its reference comes from the sources.
  site: program([], 'site/main.mjs', ['--conditions=source']),
  // The terminal of the README, from a run of this server and kubectl.
  recording: program([buildServer], 'site/recording.mjs'),
  // The pictures of the console, from a run of this server and a Chromium.
  pictures: program([buildServer, bundleServer], 'site/console-pictures.mjs', ['--conditions=source']),
}

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

function start(args) {
  return orch(['up', ...args])
}

async function orch(args) {
  const node = await prepare()
  await buildServer()
  return runChild(node, [...serverNodeFlags, '--import', endWithParent, await bundleServer(), ...args])
}

async function dev(args) {
  const node = await prepare()
  await buildServer()
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
  const node = await prepare()
  const isBuilt = await buildAll()
  const isWhole = args.length === 0
  const missing = isWhole ? missingBackend(node) : undefined
  if (missing !== undefined) say(`the tests with services apart are left out: ${missing}`)
  const isApart = isWhole && missing === undefined
  const result = await runTests(node, args, { apart: isApart ? (process.env.ORCH_TEST_APART ?? 'across') : undefined })
  const check = isApart && result.signal === undefined ? await checkSkipped(node) : 0
  printSummary([result])
  const isComplete = isBuilt && (missing === undefined || process.env.ORCH_TEST_BACKENDS !== 'required')
  return result.code || check || (isComplete ? 0 : 1)
}

/** Tests that `npm test` leaves out, each with a separate configuration. */
async function testApart(config, args) {
  const node = await prepare()
  const isBuilt = await buildAll()
  const result = await runTests(node, ['--config', config, ...args])
  printSummary([result])
  return isBuilt ? result.code : result.code || 1
}

/** True if everything compiles; tests run in either case. */
async function buildAll() {
  if (await build(serverProject, 'the server')) await bundleServer()
  const isBuilt = await build('.', 'everything')
  if (!isBuilt) say('the build has errors, so this run fails whatever the tests say')
  return isBuilt
}

/** With separate services a skipped test outside of the list is a failure, and so is a listed test that runs. */
function checkSkipped(node) {
  return runChild(node, [join(root, 'test/modes/check.ts'), join(cacheFolder, 'test-report.json')], { cwd: root })
}

/** The instruction to install a missing program, or undefined. */
function missingBackend(node) {
  const { stdout } = spawnSync(node, [join(root, 'test/modes/backends.ts')], { encoding: 'utf8' })
  return stdout.trim() === '' ? undefined : stdout.trim()
}

/** Prints the skipped tests with their reasons, the failures again, and finally the counts. */
function printSummary(results) {
  const reports = results.flatMap(({ report }) => report ?? [])
  for (const reason of describeSkipped(reports)) process.stdout.write(`skipped ${reason}\n`)
  for (const failure of reports.flatMap(describeFailures)) process.stdout.write(`failed: ${failure}\n`)
  for (const { endedBy } of results)
    if (endedBy !== undefined) process.stdout.write(`ended by ${endedBy}: what follows counts the tests until then\n`)
  const counts = reports.map(countTests)
  const sum = (name) => counts.reduce((total, count) => total + count[name], 0)
  process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped\n`)
}

async function golden(args) {
  const node = await prepare()
  if (await build('.', 'everything')) await bundleServer()
  const result = await runTests(node, [...args, '--update'])
  printSummary([result])
  return result.code
}

/** Only a complete run writes the report for `requirements`; a filtered run writes a separate report. */
async function runTests(node, args, { apart } = {}) {
  const report = join(cacheFolder, args.length === 0 ? 'test-report.json' : 'test-report-partial.json')
  for (const file of [report, partialReportOf(report)]) rmSync(file, { force: true })
  const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts/test-reporter.mjs')}`]
  const environment = { ...process.env, TEST_REPORT_FILE: report, ORCH_TEST_MODE: 'embedded' }
  if (apart === undefined) delete environment.ORCH_TEST_APART
  else environment.ORCH_TEST_APART = apart
  const words = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...reporters, ...args]
  const { code, signal } = await runChildToEnd(node, words, { cwd: root, env: environment })
  const endedBy = signal ?? (existsSync(report) ? undefined : `exit code ${code} of the test runner`)
  return { code: endedBy === undefined ? code : code || 1, signal, endedBy, report: readReport(report) }
}

/** An interrupted run may have written only partial results. */
function readReport(report) {
  const partial = partialReportOf(report)
  if (existsSync(report)) return JSON.parse(readFileSync(report, 'utf8'))
  return toPartialReport(existsSync(partial) ? readFileSync(partial, 'utf8') : '')
}

/** Runs a file of the project after these builds. */
function program(builds, file, flags = []) {
  return async (args) => {
    const node = await prepare()
    for (const step of builds) await step()
    return runChild(node, [...flags, join(root, file), ...args], { cwd: root })
  }
}

async function fuzz(args) {
  const node = await prepare()
  await build('.', 'everything')
  // The tree walk of the tests shares sources with the code under comparison.
  const flags = args[0] === 'expressions' ? ['--conditions=source'] : []
  const folder = ['expressions', 'heads', 'frames'].includes(args[0]) ? args[0] : ''
  return runChild(node, [...flags, join(root, 'test/fuzz', folder, 'main.ts'), ...args], { cwd: root })
}

async function requirements(args) {
  const { main } = await import('./requirements.mjs')
  return main(args)
}

async function mutate(args) {
  const { main } = await import('./mutate.mjs')
  return main(args)
}

async function lint(args) {
  const node = await prepare()
  const biome = await runChild(node, [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'check', ...args], { cwd: root })
  const { main } = await import('./check-imports.mjs')
  const imports = main()
  const words = (await import('./check-words.mjs')).main()
  // Checks sizes of files, casts, and positional parameters; the parser needs a recent Node.
  const code = await runChild(node, [join(root, 'scripts/check-code.mjs')], { cwd: root })
  // Finds unused files, exports and dependencies.
  const unused = await runChild(node, [join(root, 'node_modules/knip/bin/knip.js'), '--no-progress', '--no-config-hints'], { cwd: root })
  const links = await runChild(node, [join(root, 'site/check.mjs')], { cwd: root })
  // Prints the findings of publint, are-the-types-wrong and npm in the packed package.
  await buildServer()
  await bundleServer()
  const packed = await runChild(node, [join(root, 'scripts/check-package.mjs')], { cwd: root })
  return biome || imports || words || code || unused || links || packed
}

async function buildServer() {
  if (!(await build(serverProject, 'the server'))) throw new SetupError('The server does not compile; the errors stand above.')
  if (!existsSync(serverEntry))
    throw new SetupError(`${serverEntry} is missing after the build; remove the dist folders and run this again.`)
}

/** The bench and the profile share the lookup of etcd and NATS with the tests. */
async function buildTestkit() {
  if (!(await build('shared/testkit', 'the testkit'))) throw new SetupError('The testkit does not compile; the errors stand above.')
}
