import { messageOf, systemCodeOf } from '../error-message.ts'

/** The reason why a server was not reached, in the words of Go's dialer. `doubt` explains why only a DNS name was available. */
export function unreachedReason(error: unknown, doubt?: string): string {
  const code = systemCodeOf(error)
  const message = messageOf(error)
  switch (code) {
    case 'ECONNREFUSED':
      return `dial tcp ${message.replace(/^connect ECONNREFUSED /, '')}: connect: connection refused`
    case 'ENOTFOUND':
      return inDoubt(doubt, `dial tcp: ${message.replace(/^getaddrinfo ENOTFOUND /, 'lookup ')}: no such host`)
    case 'EAI_AGAIN':
      return inDoubt(doubt, `dial tcp: ${message.replace(/^getaddrinfo EAI_AGAIN /, 'lookup ')}: temporary failure in name resolution`)
    default:
      return message
  }
}

function inDoubt(doubt: string | undefined, why: string): string {
  return doubt === undefined ? why : `${doubt}, and ${why}`
}
