import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aFolder } from '@orch/testkit/folder'
import { expect, onTestFinished, test, vi } from 'vitest'
import { directoryOwner, lockDirectory } from './directory-lock.ts'

/** Replaces `process.kill`, which shows whether a process is alive. */
function whenAsked(answer: () => true): void {
  const kill = vi.spyOn(process, 'kill').mockImplementation(answer)
  onTestFinished(() => kill.mockRestore())
}

const systemError = (code: string) => Object.assign(new Error(code), { code })

test('a directory is locked once at a time, and the refusal names its owner, and the address when it is known', () => {
  const directory = join(aFolder(), 'deep', 'down')
  const lock = lockDirectory(directory)
  expect(() => lockDirectory(directory)).toThrow(`the data directory ${directory} is in use by process ${process.pid}`)
  expect(directoryOwner(directory)).toEqual({ pid: process.pid, address: '' })
  lock.announce('https://127.0.0.1:6443')
  expect(() => lockDirectory(directory)).toThrow(`process ${process.pid}, which listens on https://127.0.0.1:6443`)
  expect(directoryOwner(directory)).toEqual({ pid: process.pid, address: 'https://127.0.0.1:6443' })
  lock.release()
  expect(directoryOwner(directory)).toBeUndefined()
  lockDirectory(directory).release()
})

test('a lock whose owner has not written its name belongs to another process', () => {
  const directory = aFolder()
  const lock = lockDirectory(directory)
  for (const text of ['', '{"address":"x"}']) {
    writeFileSync(join(directory, 'owner'), text)
    expect(() => lockDirectory(directory)).toThrow('is in use by another process')
    expect(directoryOwner(directory)).toBeUndefined()
  }
  lock.release()
})

test('a process that has ended owns no lock, and a process of another user may own one', () => {
  const directory = aFolder()
  const lock = lockDirectory(directory)
  whenAsked(() => {
    throw systemError('ESRCH')
  })
  expect(directoryOwner(directory)).toBeUndefined()
  whenAsked(() => {
    throw systemError('EPERM')
  })
  expect(directoryOwner(directory)).toEqual({ pid: process.pid, address: '' })
  lock.release()
})

test('an invalid lock file is named', () => {
  const directory = aFolder()
  writeFileSync(join(directory, 'lock'), Buffer.alloc(8192, 7))
  expect(() => lockDirectory(directory)).toThrow(join(directory, 'lock'))
})
