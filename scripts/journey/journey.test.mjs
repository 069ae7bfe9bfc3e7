import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const [recorder, journey] = ['recorder.mjs', 'journey.mjs'].map((name) => new URL(name, import.meta.url))

/** The files that a warm request visits and how often it returns to one that it has left, general helpers left out. */
async function journeyOf(verb) {
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', recorder.href, journey.pathname, verb])
  const countsOf = (label) => {
    const [, files, returns] = new RegExp(`^${label}: (\\d+) files, (\\d+) returns$`, 'm').exec(stdout) ?? []
    return { files: Number(files), returns: Number(returns) }
  }
  return { ...countsOf('without general helpers and its event'), event: countsOf('its event') }
}

test.each(['create', 'get', 'list', 'update', 'delete'])(
  'the verb %s passes at most 45 files, and returns at most 40 times to one that it has left',
  async (verb) => {
    const { files, returns, event } = await journeyOf(verb)
    expect(files).toBeGreaterThan(15)
    expect(files).toBeLessThanOrEqual(45)
    expect(returns).toBeLessThanOrEqual(40)
    expect(event.files).toBeLessThanOrEqual(9)
  },
)
