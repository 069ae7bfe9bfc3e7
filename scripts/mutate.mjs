/**
 * `npm run mutate -- <scope> [--incremental] [--sample=<n> --seed=<s>] [file …]`: changes the code of a scope in small ways, one at a time, and runs the
 * scope's tests on each change. A change that no test notices has survived. The run happens in a copy of the sources, so that an
 * interrupted one leaves nothing behind. With `--incremental`, changes whose code and tests are as in the last such run keep their
 * result.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheFolder, prepare, SetupError, say } from './bootstrap.mjs'
import { runChild } from './children.mjs'
import { intervalOf } from './mutation-sample.mjs'
import { mutationScopes } from './mutation-scopes.mjs'
import { root } from './root.mjs'

/** The least share of noticed changes, in percent. */
const scoreMin = 85
const concurrency = Number(process.env.ORCH_MUTATION_CONCURRENCY ?? 2)

const excludedMutations = ['StringLiteral']

/** A test run past its time counts as a change noticed, so a busy machine must not reach it: this many times the usual, and this on top. */
const timeoutFactor = 5
const timeoutMs = 20_000

export async function main([name, ...options]) {
  const incremental = options.includes('--incremental')
  const numberOf = (flag) => Number(options.find((option) => option.startsWith(`${flag}=`))?.slice(flag.length + 1) ?? 0)
  const sample = numberOf('--sample') > 0 ? { count: numberOf('--sample'), seed: numberOf('--seed') } : undefined
  const files = options.filter((option) => !option.startsWith('--'))
  const scope = Object.hasOwn(mutationScopes, name ?? '') ? mutationScopes[name] : undefined
  if (scope === undefined) {
    throw new SetupError(`Unknown scope ${name ?? ''}: one of ${Object.keys(mutationScopes).join(', ')} was expected.`)
  }
  const node = await prepare()
  const copy = copySources(name)
  const report = join(cacheFolder, `mutation-${name}.json`)
  // A run that is interrupted writes none, and the one of an earlier run would be taken for it.
  rmSync(report, { force: true })
  const mutate = [...(files.length > 0 ? files : scope.mutate), '!**/*.test.ts']
  writeFileSync(join(copy, 'stryker.conf.json'), JSON.stringify(configuration({ name, mutate, report, incremental, sample }), undefined, 2))
  if (sample !== undefined) {
    const words = JSON.stringify({ mutate, excludedMutations, ...sample })
    if ((await runChild(node, [join(copy, 'scripts/mutation-sample.mjs'), words], { cwd: copy })) !== 0) return 1
  }
  const code = await runChild(node, [join(copy, 'node_modules/@stryker-mutator/core/bin/stryker.js'), 'run', 'stryker.conf.json'], {
    cwd: copy,
    env: { ORCH_MUTATION_TESTS: JSON.stringify(scope.tests), ...process.env },
  })
  if (!existsSync(report)) return code
  const found = JSON.parse(readFileSync(report, 'utf8'))
  printSurvivors(found, report)
  if (sample !== undefined) printScore(found)
  return code
}

function configuration({ name, mutate, report, incremental, sample }) {
  return {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner', './scripts/mutation-sample.mjs'],
    checkers: sample === undefined ? [] : ['sample'],
    vitest: { configFile: 'vitest.mutation.config.ts', related: false },
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    inPlace: true,
    mutate,
    // The words of messages and names are facts of the API; tests compare those that clients depend on.
    mutator: { excludedMutations },
    reporters: ['clear-text', 'json', 'progress-append-only'],
    clearTextReporter: { reportMutants: false, reportTests: false, reportScoreTable: true, allowColor: false },
    jsonReporter: { fileName: report },
    thresholds: { high: scoreMin, low: scoreMin, break: scoreMin },
    concurrency,
    timeoutFactor,
    timeoutMS: timeoutMs,
    incremental,
    incrementalFile: join(cacheFolder, `mutation-${name}-incremental.json`),
  }
}

/** The files of the working tree with dependencies of their own, so that packages of ours are the changed ones. */
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

/** One line per change that no test noticed: where, what it was, and what it became. */
function printSurvivors(report, path) {
  for (const [file, { source, mutants }] of Object.entries(report.files)) {
    const lines = source.split('\n')
    for (const mutant of mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage')) {
      const { start } = mutant.location
      const replacement = mutant.replacement?.replaceAll(/\s+/g, ' ').slice(0, 100)
      process.stdout.write(
        `${mutant.status === 'Survived' ? 'survived' : 'not covered'} ${file}:${start.line}:${start.column} ${mutant.mutatorName}\n` +
          `    ${lines[start.line - 1].trim()}\n    → ${replacement}\n`,
      )
    }
  }
  say(`the report is in ${path}`)
}

/** The score of the drawn mutants, with its 95 % interval. */
function printScore(report) {
  const statuses = Object.values(report.files).flatMap(({ mutants }) => mutants.map(({ status }) => status))
  const count = (...names) => statuses.filter((status) => names.includes(status)).length
  const killed = count('Killed', 'Timeout')
  const run = killed + count('Survived', 'NoCoverage')
  const { low, high } = intervalOf(killed, run)
  const percent = (share) => `${Math.round(100 * share)} %`
  say(`${killed} of ${run} drawn mutants killed: ${percent(killed / run)} (95 % interval ${percent(low)} to ${percent(high)})`)
}
