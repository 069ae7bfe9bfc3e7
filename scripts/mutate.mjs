/**
 * `npm run mutate -- <scope> [--incremental] [--sample=<n> --seed=<s>] [file …]`: changes the code of a scope in small ways, one at a time, and runs the
 * scope's tests on each change. A change that no test notices has survived. The run uses a copy of the sources, so that an interrupted run leaves
 * nothing behind. With `--incremental`, changes whose code and tests equal those of the last such run keep their result.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheFolder, prepare, SetupError, say } from './bootstrap.mjs'
import { runChild } from './children.mjs'
import { intervalOf } from './mutation-sample.mjs'
import { mutationScopes } from './mutation-scopes.mjs'
import { root } from './root.mjs'

/** The minimum percentage of noticed changes. */
const scoreMin = 85
const concurrencyDefault = Number(process.env.ORCH_MUTATION_CONCURRENCY ?? 2)

const excludedMutations = ['StringLiteral']

/**
 * A test run past its timeout counts as a noticed change, so a busy machine must not reach it. The timeout is this multiple of the usual time of the
 * tests, plus this constant, in wall time. The score includes the number of timeouts.
 */
const timeoutFactor = 5
const timeoutMs = 20_000
/** The same for the first run, of all tests of the scope on the unchanged code. */
const firstRunMinutesMax = 30

export async function main([name, ...options]) {
  const numberOf = (flag) => Number(options.find((option) => option.startsWith(`${flag}=`))?.slice(flag.length + 1) ?? 0)
  const sample = numberOf('--sample') > 0 ? { count: numberOf('--sample'), seed: numberOf('--seed') } : undefined
  const files = options.filter((option) => !option.startsWith('--'))
  const scope = Object.hasOwn(mutationScopes, name ?? '') ? mutationScopes[name] : undefined
  if (scope === undefined) {
    throw new SetupError(`Unknown scope ${name ?? ''}: one of ${Object.keys(mutationScopes).join(', ')} was expected.`)
  }
  const node = await prepare()
  const { code, words } = await tryChanges({
    node,
    folder: copySources(name),
    mutate: files.length > 0 ? files : scope.mutate,
    tests: scope.tests,
    report: join(cacheFolder, `mutation-${name}.json`),
    sample,
    incrementalFile: options.includes('--incremental') ? join(cacheFolder, `mutation-${name}-incremental.json`) : undefined,
    stdio: 'inherit',
  })
  process.stdout.write(words)
  return code
}

/**
 * Runs the tests on each change of the files in a folder, which is modified. Returns the exit code, 1 below the bound, and the report with unnoticed
 * changes and the score.
 */
export async function tryChanges({ node, folder, tests, report, sample, stdio, ...wanted }) {
  // An interrupted run writes no report, and an earlier report would be mistaken for it.
  rmSync(report, { force: true })
  const mutate = [...wanted.mutate, '!**/*.test.ts']
  writeFileSync(join(folder, 'stryker.conf.json'), JSON.stringify(configuration({ ...wanted, mutate, report, sample }), undefined, 2))
  if (sample !== undefined) {
    const words = JSON.stringify({ mutate, excludedMutations, ...sample })
    if ((await runChild(node, [join(folder, 'scripts/mutation-sample.mjs'), words], { cwd: folder, stdio })) !== 0)
      return { code: 1, words: '' }
  }
  const code = await runChild(node, [join(folder, 'node_modules/@stryker-mutator/core/bin/stryker.js'), 'run', 'stryker.conf.json'], {
    cwd: folder,
    stdio,
    env: { ORCH_MUTATION_TESTS: JSON.stringify(tests), ...process.env },
  })
  if (!existsSync(report)) return { code, words: '' }
  const found = JSON.parse(readFileSync(report, 'utf8'))
  return { code, words: [...survivorsOf(found), `the report is in ${report}`, ...scoreOf(found, sample), ''].join('\n') }
}

function configuration({ mutate, report, sample, incrementalFile, concurrency = concurrencyDefault }) {
  return {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner', './scripts/mutation-sample.mjs'],
    checkers: sample === undefined ? [] : ['sample'],
    vitest: { configFile: 'vitest.mutation.config.ts', related: false },
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    inPlace: true,
    // Tests run from the sources, without a compiler.
    disableTypeChecks: false,
    mutate,
    // Messages and names belong to the API; tests compare those that clients depend on.
    mutator: { excludedMutations },
    reporters: ['clear-text', 'json', 'progress-append-only'],
    clearTextReporter: { reportMutants: false, reportTests: false, reportScoreTable: true, allowColor: false },
    jsonReporter: { fileName: report },
    thresholds: { high: scoreMin, low: scoreMin, break: scoreMin },
    concurrency,
    timeoutFactor,
    timeoutMS: timeoutMs,
    dryRunTimeoutMinutes: firstRunMinutesMax,
    ...(incrementalFile === undefined ? {} : { incremental: true, incrementalFile }),
  }
}

/** The files of the working tree with separate dependencies, so that our packages resolve to the changed copies. */
function copySources(name) {
  const copy = join(cacheFolder, 'mutation', name)
  say(`copying the sources to ${copy}`)
  rmSync(copy, { recursive: true, force: true })
  for (const path of listFiles()) {
    mkdirSync(dirname(join(copy, path)), { recursive: true })
    cpSync(join(root, path), join(copy, path))
  }
  for (const cached of ['backends', 'pnpm.stamp', ...pnpmFolder()]) {
    if (existsSync(join(cacheFolder, cached))) cpSync(join(cacheFolder, cached), join(copy, '.cache', cached), { recursive: true })
  }
  const installed = spawnSync(process.execPath, ['-e', "import('./scripts/bootstrap.mjs').then(({ prepare }) => prepare())"], {
    cwd: copy,
    stdio: 'inherit',
  })
  if (installed.status !== 0) throw new SetupError('The copy of the sources could not be set up.')
  return copy
}

function listFiles() {
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  if (listed.status !== 0) throw new SetupError('git could not list the files of the working tree.')
  return listed.stdout.split('\0').filter((path) => path !== '' && existsSync(join(root, path)))
}

function pnpmFolder() {
  const version = existsSync(join(cacheFolder, 'pnpm.stamp')) ? readFileSync(join(cacheFolder, 'pnpm.stamp'), 'utf8') : undefined
  return version === undefined ? [] : [`pnpm-${version}`]
}

/** Each change that no test noticed: its place, the original line, and its replacement. */
function survivorsOf({ files }) {
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n')
    const left = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    return left.map(({ status, location: { start }, mutatorName, replacement }) =>
      [
        `${status === 'Survived' ? 'survived' : 'not covered'} ${file}:${start.line}:${start.column} ${mutatorName}`,
        `    ${lines[start.line - 1].trim()}`,
        `    → ${replacement?.replaceAll(/\s+/g, ' ').slice(0, 100)}`,
      ].join('\n'),
    )
  })
}

/** The share of noticed changes; for a sample with its 95 % interval. Changes in code that runs only at module load are left out. */
function scoreOf({ files }, sample) {
  const statuses = Object.values(files).flatMap(({ mutants }) => mutants.map(({ status }) => status))
  const count = (...names) => statuses.filter((status) => names.includes(status)).length
  const killed = count('Killed', 'Timeout')
  const run = killed + count('Survived', 'NoCoverage')
  const { low, high } = intervalOf(killed, run)
  const percent = (share) => `${Math.round(100 * share)} %`
  const interval = sample === undefined ? '' : ` (95 % interval ${percent(low)} to ${percent(high)})`
  const errors = count('RuntimeError')
  return [
    `${killed} of ${run} mutants killed, ${count('Timeout')} of them by time: ${percent(killed / run)}${interval}`,
    ...(errors === 0 ? [] : [`${errors} mutants with an error outside of tests are not counted`]),
  ]
}
