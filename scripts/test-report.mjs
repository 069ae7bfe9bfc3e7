/** The record of a test run: each test by its titles from the outermost group inwards, its result, and the reason of a failure or a skip. */

const maximumReasonLength = 1_500

/** The file in which a running test run records its results so far. */
export const partialReportOf = (file) => `${file}.lines`

/**
 * The report of a run, from the runner's own modules. A file that could not be loaded, a file whose process ended before its tests, and an error outside
 * any test each count as a failure.
 */
export function toReport(modules, unhandledErrors) {
  const tests = modules.flatMap((module) => [...module.children.allTests()].filter(hasResult).map(toEntry))
  const failures = modules.flatMap((module) => [...failuresToLoad(module), ...failuresToEnd(module)])
  return { tests, failures: [...failures, ...unhandledErrors.map((error) => reasonOf([error]))] }
}

/** The report of an interrupted run, from the lines written so far. */
export function toPartialReport(text) {
  const isWhole = (line) => line.endsWith('}')
  const tests = text
    .split('\n')
    .filter(isWhole)
    .map((line) => JSON.parse(line))
  return { tests, failures: [] }
}

function hasResult(test) {
  return test.result().state !== 'pending'
}

function failuresToLoad(module) {
  return module.errors().length === 0 ? [] : [`${module.relativeModuleId}\n  ${reasonOf(module.errors())}`]
}

function failuresToEnd(module) {
  const count = [...module.children.allTests()].filter((test) => !hasResult(test)).length
  return count === 0 ? [] : [`${module.relativeModuleId}\n  ended before ${count === 1 ? 'a test' : `${count} tests`} had a result`]
}

/** The numbers of passed, failed and skipped tests. */
export function countTests({ tests, failures }) {
  const countOf = (outcome) => tests.filter((test) => test.outcome === outcome).length
  return { passed: countOf('passed'), failed: countOf('failed') + failures.length, skipped: countOf('skipped') }
}

/** A line for each reason why tests were skipped. */
export function describeSkipped(reports) {
  const skipped = reports.flatMap(({ tests }) => tests).filter(({ outcome }) => outcome === 'skipped')
  const counts = new Map()
  for (const { skipReason = 'no reason was given' } of skipped) counts.set(skipReason, (counts.get(skipReason) ?? 0) + 1)
  return [...counts].map(([reason, count]) => `${count === 1 ? '1 test' : `${count} tests`}: ${reason}`)
}

/** A text for each failure: the file, the test's titles, and the beginning of the error. */
export function describeFailures({ tests, failures }) {
  const failed = tests.filter(({ outcome }) => outcome === 'failed')
  return [
    ...failed.map(
      ({ file, titles, failReason, mode }) =>
        `${mode === undefined ? '' : 'services apart: '}${[file, ...titles].join(' > ')}\n  ${failReason ?? 'no error was given'}`,
    ),
    ...failures,
  ]
}

/** The record of a finished test. */
export function toEntry(test) {
  const { state, note, errors } = test.result()
  const outcome = state === 'passed' || state === 'failed' ? state : 'skipped'
  const mode = test.project?.name === 'apart' ? { mode: 'distributed' } : {}
  const entry = { file: test.module.relativeModuleId, titles: titlesOf(test), outcome, ...mode }
  if (outcome === 'failed') return { ...entry, failReason: reasonOf(errors) }
  return outcome === 'skipped' ? { ...entry, skipReason: note ?? /\[skipped: ([^\]]+)\]/.exec(entry.titles.join(' '))?.[1] } : entry
}

function reasonOf([error] = []) {
  if (error?.cause?.message !== undefined) return reasonOf([{ ...error.cause, stack: `${error.message}: ${error.cause.message}` }])
  return (error?.stack ?? error?.message)?.slice(0, maximumReasonLength).replaceAll('\n', '\n  ')
}

function titlesOf(task) {
  return task.type === 'module' ? [] : [...titlesOf(task.parent), task.name]
}
