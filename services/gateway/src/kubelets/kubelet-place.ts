import { badRequest, failed, OutsideError } from '@orch/core/meta'
import type { BuiltIn } from '@orch/core/schema'
import { isGlobalUnicast } from '@orch/platform'

/** The selection of a kubelet's address. */
export interface KubeletAddressing {
  /** Address types in order of preference. */
  readonly preferredAddressTypes: readonly string[]
  /** Port of a kubelet whose Node has none. */
  readonly port: number
  /** True if loopback and link-local addresses are allowed too. */
  readonly allowsLocal: boolean
}

/** The address of a kubelet, by its Node. */
export interface KubeletPlace {
  readonly node: string
  readonly host: string
  readonly port: number
  /** Features that the node declares. */
  readonly features: ReadonlySet<string>
}

/** The address of a node's kubelet. Throws the refusal of a Node without a usable address. */
export function kubeletPlace({ metadata, status }: BuiltIn<'core/v1.Node'>, addressing: KubeletAddressing): KubeletPlace {
  const { addresses = [], daemonEndpoints, declaredFeatures = [] } = status
  const host = addressing.preferredAddressTypes
    .map((wanted) => addresses.find(({ type }) => type === wanted)?.address)
    .find((address) => address !== undefined)
  if (host === undefined) {
    const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')
    throw new OutsideError(failed(500, '', `no preferred addresses found; known addresses: [${known}]`).status)
  }
  requireReachable(host, addressing)
  const reported = daemonEndpoints?.kubeletEndpoint?.Port ?? 0
  return { node: metadata.name ?? '', host, port: reported > 0 ? reported : addressing.port, features: new Set(declaredFeatures) }
}

/** Refuses an address of this machine or its link. Names are checked when they are resolved. */
export function requireReachable(address: string, { allowsLocal }: Pick<KubeletAddressing, 'allowsLocal'>): void {
  if (!allowsLocal && isGlobalUnicast(address) === false) {
    throw badRequest(`address not allowed: ${address} is of this machine or its link (--kubelet-local-addresses allows it)`)
  }
}
