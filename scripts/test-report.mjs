/** What is kept of a test run: each test by its titles from the outermost group inwards, how it ended, and why it failed or was skipped. */

const maximumReasonLength = 1_500

/** The report of a run, from the runner's own modules. A file that could not be loaded, or an error outside any test, is a failure of its own. */
export function toReport(modules, unhandledErrors) {
  const tests = modules.flatMap((module) => [...module.children.allTests()].map((test) => toEntry(module, test)))
  const failures = modules
    .filter((module) => module.errors().length > 0)
    .map((module) => `${module.relativeModuleId}\n  ${reasonOf(module.errors())}`)
  return { tests, failures: [...failures, ...unhandledErrors.map((error) => reasonOf([error]))] }
}

/** How many tests passed, failed and were skipped. */
export function countTests({ tests, failures }) {
  const countOf = (outcome) => tests.filter((test) => test.outcome === outcome).length
  return { passed: countOf('passed'), failed: countOf('failed') + failures.length, skipped: countOf('skipped') }
}

/** A text for each failure: the file, the test's titles, and the beginning of what went wrong. */
export function describeFailures({ tests, failures }) {
  const failed = tests.filter(({ outcome }) => outcome === 'failed')
  return [
    ...failed.map(({ file, titles, failReason }) => `${[file, ...titles].join(' > ')}\n  ${failReason ?? 'no error was given'}`),
    ...failures,
  ]
}

function toEntry(module, test) {
  const { state, note, errors } = test.result()
  const outcome = state === 'passed' || state === 'failed' ? state : 'skipped'
  const entry = { file: module.relativeModuleId, titles: titlesOf(test), outcome }
  if (outcome === 'failed') return { ...entry, failReason: reasonOf(errors) }
  return outcome === 'skipped' ? { ...entry, skipReason: note ?? /\[skipped: ([^\]]+)\]/.exec(test.name)?.[1] } : entry
}

function reasonOf([error] = []) {
  return (error?.stack ?? error?.message)?.slice(0, maximumReasonLength).replaceAll('\n', '\n  ')
}

function titlesOf(task) {
  return task.type === 'module' ? [] : [...titlesOf(task.parent), task.name]
}
