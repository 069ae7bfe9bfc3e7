import { X509Certificate } from 'node:crypto'
import type { SecureContext } from 'node:tls'
import { at } from '@orch/core/json'
import type { KeyPair, PairSource } from '@orch/platform'

/** A certificate for clients that request one of its names. */
export interface NamedPair {
  readonly pair: Pick<PairSource, 'current' | 'listen'>
  /** `example.com` or `*.example.com`; empty for the names of the certificate. */
  readonly names: readonly string[]
}

/** Finds the certificate for a requested name; undefined for the default certificate. */
export type ContextByName = (name: string) => SecureContext | undefined

/**
 * Contexts by name. Configured names take precedence over those of certificates, earlier pairs over later ones, and exact names over wildcards, which
 * match one label.
 */
export function contextsByName(pairs: readonly NamedPair[], contextOf: (pair: KeyPair) => SecureContext): ContextByName {
  const byName = new Map<string, SecureContext>()
  const contexts = pairs.map(({ pair }) => contextOf(pair.current))
  const add = (names: readonly string[], index: number): void => {
    for (const name of names) if (!byName.has(name.toLowerCase())) byName.set(name.toLowerCase(), at(contexts, index))
  }
  for (const [index, { names }] of pairs.entries()) add(names, index)
  for (const [index, { pair, names }] of pairs.entries()) if (names.length === 0) add(namesOfCertificate(pair.current.certificate), index)
  return (name) => {
    const asked = name.toLowerCase().replace(/\.$/, '')
    return byName.get(asked) ?? byName.get(asked.replace(/^[^.]+/, '*'))
  }
}

/** The DNS names of a certificate; its common name if it has none. */
function namesOfCertificate(text: string): string[] {
  const { subject, subjectAltName = '' } = new X509Certificate(text)
  const names = subjectAltName.split(', ').flatMap((entry) => (entry.startsWith('DNS:') ? [entry.slice('DNS:'.length)] : []))
  if (names.length > 0) return names
  const commonName = /^CN=(.+)$/m.exec(subject)?.[1]
  return commonName === undefined ? [] : [commonName]
}
