import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { systemCodeOf } from '@orch/platform'
import type { Pieces } from '../representations/gzip-pieces.ts'
import { type OpenApiSources, openApiOptions } from './openapi-file.ts'

/** The folder of documents for default settings, which the bundler writes. Absent without a bundle. */
const folder = new URL('./openapi/', import.meta.url)

/** The file name of a document, derived from all its inputs. */
export function presetFileName(
  document: string,
  { builtInCatalogue: catalogue, version }: Pick<OpenApiSources, 'builtInCatalogue' | 'version'>,
  options: { readonly hasIssuer: boolean },
): string {
  const served = catalogue.resources.map((resource) => `${resource.apiVersion}/${resource.plural}`)
  const facts = [document, catalogue.names.profile, catalogue.level, version.gitVersion, options, served]
  return `${createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 32)}.gz`
}

/** The pieces of a bundled document for such a server; undefined if none was bundled. */
export async function readPreset(document: string, sources: OpenApiSources): Promise<Pieces | undefined> {
  const file = new URL(presetFileName(document, sources, openApiOptions(sources)), folder)
  try {
    return piecesOf(await promisify(gunzip)(await readFile(file)))
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** A zero byte, which JSON never contains, ends each piece but the last. */
function piecesOf(bytes: Uint8Array): Uint8Array[] {
  const end = bytes.indexOf(0)
  return end < 0 ? [bytes] : [bytes.subarray(0, end), ...piecesOf(bytes.subarray(end + 1))]
}
