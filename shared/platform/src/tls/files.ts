import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CertificateFiles } from './certificates.ts'

/** Makes a folder that only its owner may enter. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  chmodSync(path, 0o700)
}

/** Writes a file that only its owner may read. A reader sees the old text or the new one, never a part. */
export function writePrivateFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, path)
}

/** Certificates in a folder, readable by its owner alone. */
export function certificateFolder(folder: string): CertificateFiles {
  return {
    read: (name) => readIfPresent(join(folder, name)),
    write: (name, text) => writePrivateFile(join(folder, name), text),
  }
}

/** Certificates that live as long as the process. */
export function certificateMemory(): CertificateFiles {
  const texts = new Map<string, string>()
  return { read: (name) => texts.get(name), write: (name, text) => void texts.set(name, text) }
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
