/**
 * A reporter for the test runner: writes each test's result, and the reason of a skip, to the file named by TEST_REPORT_FILE. During the run another
 * file has a line per test, so that an interrupted run keeps its results so far.
 */
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { partialReportOf, toEntry, toReport } from './test-report.mjs'

export default class {
  #file = process.env.TEST_REPORT_FILE

  onInit() {
    if (this.#file === undefined) throw new Error('TEST_REPORT_FILE must name the report to write')
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(partialReportOf(this.#file), '')
  }

  onTestCaseResult(test) {
    appendFileSync(partialReportOf(this.#file), `${JSON.stringify(toEntry(test))}\n`)
  }

  onTestRunEnd(modules, unhandledErrors) {
    writeFileSync(this.#file, JSON.stringify(toReport(modules, unhandledErrors), undefined, 1))
    rmSync(partialReportOf(this.#file), { force: true })
  }
}
