import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const run = promisify(execFile)
const index = JSON.stringify(new URL('./index.ts', import.meta.url).href)

/** Runs a program with a last resort, and returns its lines. Lines that begin with "ended" are failed exchanges. */
async function runProgram(body: string): Promise<{ code: number; lines: readonly string[] }> {
  const program = `
    import { endOnFailure, Guard, runOutsideExchanges, systemClock, TimerWheel } from ${index}
    const say = (text) => process.stdout.write(text + '\\n')
    const log = { error: ({ err }, message) => say(err.message + ': ' + message) }
    endOnFailure({ source: process, log, exit: () => process.exit(1) })
    const guard = new Guard((error) => say(error.message + ' reported'))
    const exchange = (name, listener) => guard.runExchange('request', () => say(name + ' ended'), listener)
    const broken = (name) => { throw new Error(name) }
    const later = setTimeout(() => say('goes on'), 200)
    ${body}`
  const options = { timeout: 60_000 }
  const ended = await run(process.execPath, ['--conditions=source', '--no-warnings', '--input-type=module', '-e', program], options).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
  )
  return { code: ended.code, lines: ended.stdout.trim().split('\n') }
}

describe('an uncaught failure', () => {
  const rows: [where: string, begin: string][] = [
    ['of a timer', `setTimeout(() => broken(name), 1)`],
    ['of an immediate', `setImmediate(() => broken(name))`],
    ['of a tick', `process.nextTick(() => broken(name))`],
    ['of a promise', `void (async () => { await undefined; broken(name) })()`],
    ['of a promise behind a timer', `void (async () => { await new Promise((resolve) => setTimeout(resolve, 1)); broken(name) })()`],
    ['of a task of a wheel', `wheel.after(1, { due: () => broken(name) })`],
  ]
  // One program has all failures, each in its exchange: a start of Node takes longer than all of them.
  const wheel = 'const wheel = new TimerWheel({ clock: systemClock, tickMs: 1 }); wheel.after(2, { due() {} });'
  const exchanges = rows.map(([where, begin]) => `{ const name = '${where}'; exchange(name, () => { ${begin} }) }`)
  let program: ReturnType<typeof runProgram> | undefined
  const ended = () => {
    program ??= runProgram(`${wheel} ${exchanges.join(' ')} exchange('another', () => {})`)
    return program
  }
  test.each(rows)('%s ends only the exchange that it belongs to', async (where) => {
    const { code, lines } = await ended()
    expect(code).toBe(0)
    const ends = [`${where} reported`, `${where} ended`]
    expect(lines.filter((line) => ends.includes(line))).toEqual(ends)
    expect(lines).toHaveLength(2 * rows.length + 1)
    expect(lines).toContain('goes on')
  })

  const outside: [what: string, body: string][] = [
    ['that belongs to no exchange', `setTimeout(() => broken('a'), 1)`],
    ['of work that exchanges share', `exchange('first', () => void runOutsideExchanges(() => setTimeout(() => broken('a'), 1)))`],
  ]
  test.each(outside)('%s is logged and ends the process', async (_what, body) => {
    const { code, lines } = await runProgram(body)
    expect(code).toBe(1)
    expect(lines).toEqual(['a: the server has failed outside of any exchange and ends'])
  })
})
