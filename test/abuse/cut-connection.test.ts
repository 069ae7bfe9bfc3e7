import { fork } from 'node:child_process'
import { expect, test } from 'vitest'

/** The messages of the child process, and its exit code. */
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
  'LIM-12: an HTTP/2 connection that ends after %s, to a request with an unread body, does not keep the process alive',
  async (_what, manner) => {
    expect(await runChild(manner)).toEqual(['closed', 0])
  },
)
