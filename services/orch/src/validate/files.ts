import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { type Manifest, ManifestError, parseManifests } from '@orch/client'
import type { Finding } from './finding.ts'

/** What files hold: objects, and what is wrong with the files themselves. */
export interface FileContents {
  readonly files: number
  readonly manifests: readonly Manifest[]
  readonly findings: readonly Finding[]
}

const extensions = ['.yaml', '.yml', '.json']

/** What tells kustomize how to build a folder, and is no object of a server. */
const kustomizations = ['kustomization.yaml', 'kustomization.yml']

/** The objects of files, and of folders with all that lies below them but kustomizations. */
export async function readFiles(paths: readonly string[]): Promise<FileContents> {
  const files = paths.flatMap(filesOf)
  const manifests: Manifest[] = []
  const findings: Finding[] = []
  for (const file of files) {
    try {
      manifests.push(...(await parseManifests(readFileSync(file, 'utf8'), file)))
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error
      findings.push(toFinding(file, error.message))
    }
  }
  return { files: files.length, manifests, findings }
}

function filesOf(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) throw new ManifestError(`${path}: there is no such file or folder`)
  if (!stat.isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extensions.includes(extname(entry.name)) && !kustomizations.includes(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** The message names the file and the line. */
function toFinding(file: string, message: string): Finding {
  const [, line = '1', text = message] = /:(\d+): (.*)$/s.exec(message) ?? []
  return { file, line: Number(line), severity: 'error', object: '', message: text }
}
