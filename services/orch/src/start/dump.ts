import { listEntries } from '@orch/core/contracts'
import type { Storage } from '@orch/storage'

/** The sources of a dump. */
export interface DumpOptions {
  readonly storage: Storage
  /** The text of the port that the server listens on. */
  readonly port: string
}

/**
 * All stored data as text: each key with its revision and object in key order, then the retained changes with their revisions. Fixed words replace
 * certificates, token signatures and the server's port.
 */
export async function dumpStorage({ storage, port }: DumpOptions): Promise<string> {
  const { revision, compacted, epoch } = await storage.status({})
  const lines = [`revision ${revision} epoch ${epoch}`]
  for (const resource of [...storage.objectCounts().keys()].sort()) {
    for await (const page of listEntries(storage, { resource }))
      lines.push(...page.map(({ key, revision: at, value }) => `${key} ${at} ${textOf(value, port)}`))
  }
  lines.push(`changes after ${compacted}`)
  if (compacted < revision) {
    for await (const part of storage.changes({ after: compacted, epoch, resources: [] })) {
      if (part.kind !== 'changes') break
      for (const change of part.changes) {
        const what = change.after === undefined ? 'deleted' : textOf(change.after.value, port)
        lines.push(`${change.revision} ${change.key} ${what}`)
      }
      if ((part.changes.at(-1)?.revision ?? 0) >= revision) break
    }
  }
  return `${lines.join('\n')}\n`
}

const certificates = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/g
/** The Base64 form, for Secrets and trust bundles. */
const encodedCertificates = /"LS0tLS1CRUdJTi[A-Za-z0-9+/=]+"/g
const encodedTokens = /"ZXlK[A-Za-z0-9+/=]+"/g

function textOf(value: Uint8Array, port: string): string {
  return Buffer.from(value)
    .toString()
    .replace(certificates, '<certificate>')
    .replace(encodedCertificates, '"<certificate>"')
    .replace(encodedTokens, '"<token>"')
    .replaceAll(`:${port}`, ':<port>')
}
