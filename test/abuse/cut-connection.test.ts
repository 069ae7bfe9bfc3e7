import { fork } from 'node:child_process'
import { expect, test } from 'vitest'

/** Messages of the child process, and how it has ended. */
function runChild(manner: string): Promise<unknown[]> {
  return new Promise((resolve) => {
    const execArgv = ['--conditions=source', '--no-warnings']
    const child = fork(new URL('cut-connection.ts', import.meta.url), [manner], { execArgv })
    const seen: unknown[] = []
    child.on('message', (message) => seen.push(message))
    child.on('exit', (code, signal) => resolve([...seen, signal ?? code]))
  })
}

test.each([
  ['a whole answer', 'whole'],
  ['an answer in pieces', 'pieces'],
])(
  'LIM-12: a connection over HTTP/2 that ends behind %s to a request whose body was not read does not hold the process',
  async (_what, manner) => {
    expect(await runChild(manner)).toEqual(['closed', 0])
  },
)
