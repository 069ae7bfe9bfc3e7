import { getCACertificates } from 'node:tls'

let known: string[] | undefined

/** The authorities that the administrator of the machine has installed, not Node's own; each as PEM. Read once. */
export function systemAuthorities(): string[] {
  known ??= getCACertificates('system')
  return known
}
