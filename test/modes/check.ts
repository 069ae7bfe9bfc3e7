/** Compares the skipped tests of a run with the expected ones: `node test/modes/check.ts <report>`. */
import { readFileSync } from 'node:fs'
import { skippedInDistributed } from './skipped.ts'

interface Report {
  readonly tests: readonly { readonly file: string; readonly titles: readonly string[]; readonly outcome: string; readonly mode?: string }[]
}

const [path = ''] = process.argv.slice(2)
const { tests } = JSON.parse(readFileSync(path, 'utf8')) as Report
const apart = tests.filter(({ mode }) => mode === 'distributed')
const ran = apart.map(({ file, titles, outcome }) => ({ file, title: titles.join(' > '), isSkipped: outcome === 'skipped' }))

const unlisted = ran.filter(({ isSkipped, file, title }) => isSkipped && !skippedInDistributed.some((one) => stands(one, file, title)))
const files = new Set(ran.map(({ file }) => file))
const ofRun = skippedInDistributed.filter(({ file }) => files.has(file))
const unskipped = ofRun.filter((one) => !ran.some(({ isSkipped, file, title }) => isSkipped && stands(one, file, title)))
for (const { file, title } of unlisted) process.stderr.write(`skipped and not on the list: ${file} > ${title}\n`)
for (const { file, title } of unskipped) process.stderr.write(`on the list and not skipped: ${file} > ${title}\n`)
process.exitCode = unlisted.length + unskipped.length === 0 ? 0 : 1

/** A title on the list may be the title of a group. */
function stands(listed: { readonly file: string; readonly title: string }, file: string, title: string): boolean {
  return listed.file === file && (title === listed.title || title.startsWith(`${listed.title} > `))
}
