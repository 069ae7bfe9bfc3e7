/** A reporter for the test runner: writes how each test ended, and why it was skipped, to the file named by TEST_REPORT_FILE. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { toReport } from './test-report.mjs'

export default class {
  onTestRunEnd(modules, unhandledErrors) {
    const file = process.env.TEST_REPORT_FILE
    if (file === undefined) throw new Error('TEST_REPORT_FILE must name the report to write')
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, JSON.stringify(toReport(modules, unhandledErrors), undefined, 1))
  }
}
