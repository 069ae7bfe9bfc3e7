import { lookup as lookupName } from 'node:dns/promises'
import { isIP } from 'node:net'
import { rpcLimits } from './limits.ts'

/** The addresses of replicas: a single host and port, or every address of a DNS name. */
export type RpcAddress =
  | { readonly kind: 'one'; readonly host: string; readonly port: number }
  | { readonly kind: 'all'; readonly host: string; readonly port: number }

/** The address of one replica. `host` is the name that its certificate must carry. */
export interface Target {
  readonly address: string
  readonly host: string
}

const dnsScheme = 'dns:///'

/** Parses `host:port`, `[::1]:port` or `dns:///name:port`; undefined for anything else. */
export function parseRpcAddress(text: string): RpcAddress | undefined {
  const isName = text.startsWith(dnsScheme)
  const [, bracketed, plain, digits] =
    /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(isName ? text.slice(dnsScheme.length) : text) ?? []
  const host = bracketed ?? plain
  const port = Number(digits)
  if (host === undefined || port > 65_535 || (bracketed !== undefined && isIP(bracketed) !== 6)) return undefined
  return { kind: isName ? 'all' : 'one', host, port }
}

/** True if an address never leaves this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Resolves a name to its addresses. */
export type Lookup = (name: string) => Promise<readonly string[]>

/** The machine's resolver. */
export const systemLookup: Lookup = async (name) => (await lookupName(name, { all: true })).map(({ address }) => address)

/** The current addresses of the replicas. Throws if a name cannot be resolved. */
export async function resolveTargets({ kind, host, port }: RpcAddress, lookup: Lookup): Promise<readonly Target[]> {
  if (kind === 'one') return [{ address: printHostPort(host, port), host }]
  const addresses = new Set((await lookup(host)).map((address) => printHostPort(address, port)))
  return [...addresses].slice(0, rpcLimits.replicasMax).map((address) => ({ address, host }))
}

function printHostPort(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}
