import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder for one test. */
export function aFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'identity-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return {
    /** Writes a file and returns its path. */
    write(name: string, text: string): string {
      const path = join(folder, name)
      writeFileSync(path, text)
      return path
    },
  }
}
