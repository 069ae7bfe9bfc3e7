/** What is kept of a test run: each test by its titles from the outermost group inwards, how it ended, and why it was skipped. */

/** The report of a run, from the runner's own modules. A file that could not be loaded, or an error outside any test, is a failure of its own. */
export function toReport(modules, unhandledErrors) {
  const tests = modules.flatMap((module) => [...module.children.allTests()].map((test) => toEntry(module, test)))
  const failures = modules.filter((module) => module.errors().length > 0).map((module) => module.relativeModuleId)
  return { tests, failures: [...failures, ...unhandledErrors.map((error) => error.message)] }
}

/** How many tests passed, failed and were skipped. */
export function countTests({ tests, failures }) {
  const countOf = (outcome) => tests.filter((test) => test.outcome === outcome).length
  return { passed: countOf('passed'), failed: countOf('failed') + failures.length, skipped: countOf('skipped') }
}

function toEntry(module, test) {
  const { state, note } = test.result()
  const outcome = state === 'passed' || state === 'failed' ? state : 'skipped'
  const entry = { file: module.relativeModuleId, titles: titlesOf(test), outcome }
  return outcome === 'skipped' ? { ...entry, skipReason: note ?? /\[skipped: ([^\]]+)\]/.exec(test.name)?.[1] } : entry
}

function titlesOf(task) {
  return task.type === 'module' ? [] : [...titlesOf(task.parent), task.name]
}
