import type { Names } from '@orch/core/names'

export interface ServingNameOptions {
  readonly names: Names
  readonly hostName: string
  readonly bindAddress: string
  /** The address of the server's own Service. */
  readonly serviceAddress: string
}

/** All names and addresses of the server, inside and outside of the cluster. */
export function servingNames({ names, hostName, bindAddress, serviceAddress }: ServingNameOptions): string[] {
  const service = names.serverServiceName
  const inside = [service, `${service}.default`, `${service}.default.svc`, `${service}.default.svc.${names.clusterDomain}`]
  const everywhere = bindAddress === '0.0.0.0' || bindAddress === '::'
  return [...new Set(['localhost', hostName, ...(everywhere ? [] : [bindAddress]), '127.0.0.1', '::1', ...inside, serviceAddress])]
}
