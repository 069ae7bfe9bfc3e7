import { readFileSync, statSync } from 'node:fs'
import { basename, extname, join, relative, resolve } from 'node:path'
import { type Manifest, ManifestError, parseManifests } from '@orch/client'
import type { ApiObject } from '@orch/core/meta'
import { namesOf, type Profile } from '@orch/core/names'
import { filesBelow } from '../load/dump.ts'

/** A fact that a server would refuse or warn about. */
export interface Finding {
  readonly file: string
  /** Counted from 1: the line of the field if known, else of the object. */
  readonly line: number
  /** An `error` is a refusal. An `audit` (from an auditing policy) and a `note` (an input that needs a cluster) do not affect the exit code. */
  readonly severity: 'error' | 'warning' | 'audit' | 'note'
  /** `Deployment web`; '' if the text is not an object. */
  readonly object: string
  readonly message: string
}

/** A file, and its name for the caller. */
interface NamedFile {
  readonly file: string
  readonly name: string
}

const extensions = ['.yaml', '.yml', '.json']

/** Files that configure kustomize and are not objects of a server. */
const kustomizations = ['kustomization.yaml', 'kustomization.yml']

/** Reads the objects of files, and of folders with all their contents except kustomizations. */
export async function readFiles(paths: readonly string[], workingFolder: string) {
  const files = (await Promise.all(paths.map((path) => filesOf(path, workingFolder)))).flat()
  const manifests: Manifest[] = []
  const findings: Finding[] = []
  for (const { file } of files) {
    try {
      manifests.push(...(await parseManifests(readFileSync(file, 'utf8'), file)))
    } catch (error) {
      if (!(error instanceof ManifestError)) throw error
      findings.push(toFinding(file, error.message))
    }
  }
  return {
    files: files.length,
    manifests,
    findings,
    /** File names as the caller would write them, by absolute path. */
    names: new Map(files.map(({ file, name }) => [file, name])),
  }
}

/** Keeps the name of a file that the caller named. The name of a file in a folder begins with the folder's name. */
async function filesOf(path: string, workingFolder: string): Promise<NamedFile[]> {
  const absolute = resolve(workingFolder, path)
  const stat = statSync(absolute, { throwIfNoEntry: false })
  if (stat === undefined) throw new ManifestError(`${path}: there is no such file or folder`)
  if (!stat.isDirectory()) return [{ file: absolute, name: path }]
  return (await filesBelow(absolute))
    .filter((file) => extensions.includes(extname(file)) && !kustomizations.includes(basename(file)))
    .map((file) => ({ file, name: join(path, relative(absolute, file)) }))
}

/** Creates an error whose message names the file and the line. */
function toFinding(file: string, message: string): Finding {
  const [, line = '1', text = message] = /:(\d+): (.*)$/s.exec(message) ?? []
  return { file, line: Number(line), severity: 'error', object: '', message: text }
}

/** The profile of the objects: orch if an object is in one of its API groups. */
export function profileOf(objects: readonly Pick<ApiObject, 'apiVersion'>[]): Profile {
  const { apiDomain } = namesOf('orch')
  return objects.some(({ apiVersion }) => apiVersion.split('/')[0]?.endsWith(`.${apiDomain}`)) ? 'orch' : 'kubernetes'
}
