import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder for one test, which is removed when the test ends. */
export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'orch-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
