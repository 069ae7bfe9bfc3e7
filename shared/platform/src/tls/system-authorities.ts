import { getCACertificates } from 'node:tls'

let known: string[] | undefined

/** The authorities of the machine, each as PEM: those that its administrator has installed, not Node's own. Read once. */
export function systemAuthorities(): string[] {
  known ??= getCACertificates('system')
  return known
}
