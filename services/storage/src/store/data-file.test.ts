import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { limits } from '../limits.ts'
import { DataFile } from './data-file.ts'

function aFile(content: string) {
  const folder = mkdtempSync(join(tmpdir(), 'data-file-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'f')
  writeFileSync(path, content)
  return path
}

function opened(path: string, contentBytes = 0): DataFile {
  const file = new DataFile(path, contentBytes)
  onTestFinished(() => file.close())
  return file
}

test('a file is extended with zeros after its content, over several writes, and never shortened', async () => {
  const path = aFile('abc')
  const file = opened(path, 3)
  expect(file.bytes).toBe(3)
  const length = limits.zeroBytesPerWrite * 2 + 5
  await file.extend(length)
  expect([file.bytes, statSync(path).size]).toEqual([length, length])
  const content = readFileSync(path)
  expect(content.subarray(0, 4).toString()).toBe('abc\0')
  expect(content.subarray(3).every((byte) => byte === 0)).toBe(true)
  await file.extend(10)
  expect([file.bytes, statSync(path).size]).toEqual([length, length])
})

test('only the content of a sparse file counts as written', async (context) => {
  const path = aFile('abc')
  truncateSync(path, 1_000_000)
  if (statSync(path).blocks * 512 >= 1_000_000) context.skip('no sparse files here')
  const file = opened(path, 3)
  expect(file.bytes).toBe(3)
  await file.extend(1_000_000)
  expect(file.bytes).toBe(1_000_000)
  expect(statSync(path).blocks * 512).toBeGreaterThanOrEqual(1_000_000)
  expect(opened(path, 3).bytes).toBe(1_000_000)
  // The noted size is at most the file's size.
  truncateSync(path, 0)
  truncateSync(path, 100_000)
  expect(opened(path, 200_000).bytes).toBe(100_000)
})
