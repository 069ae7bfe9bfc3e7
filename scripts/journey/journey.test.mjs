import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const verbs = ['create', 'get', 'list', 'update', 'delete']
const [recorder, journey] = ['recorder.mjs', 'journey.mjs'].map((name) => new URL(name, import.meta.url))

const { stdout } = await promisify(execFile)(process.execPath, ['--import', recorder.href, journey.pathname, ...verbs])

/** The files that a warm request visits, and the number of returns to an earlier file, without general helpers. */
function journeyOf(verb) {
  const told = stdout.slice(stdout.search(new RegExp(`^${verb}: `, 'm')))
  const countsOf = (label) => {
    const [, files, returns] = new RegExp(`^${label}: (\\d+) files, (\\d+) returns$`, 'm').exec(told) ?? []
    return { files: Number(files), returns: Number(returns) }
  }
  return { ...countsOf('without general helpers and its event'), event: countsOf('its event') }
}

test.each(verbs)('the verb %s enters at most 45 files, and returns at most 40 times to an earlier file', (verb) => {
  const { files, returns, event } = journeyOf(verb)
  expect(files).toBeGreaterThan(15)
  expect(files).toBeLessThanOrEqual(45)
  expect(returns).toBeLessThanOrEqual(40)
  expect(event.files).toBeLessThanOrEqual(9)
})
