import { type Names, namesOf, profiles } from '../names.ts'
import { type ServiceRole, serviceRoles } from './contract.ts'

/** The identity in the certificate of a service, as a URI: `spiffe://cluster.local/orch/service/gateway`. */
export function printServiceIdentity(names: Names, role: ServiceRole): string {
  return `${identityPrefix(names)}${role}`
}

/** The role that a URI names; undefined for other URIs. */
export function parseServiceIdentity(uri: string): ServiceRole | undefined {
  const prefix = profiles.map((profile) => identityPrefix(namesOf(profile))).find((known) => uri.startsWith(known))
  return prefix === undefined ? undefined : serviceRoles.find((role) => uri === `${prefix}${role}`)
}

function identityPrefix({ clusterDomain, serverServiceName }: Names): string {
  return `spiffe://${clusterDomain}/${serverServiceName}/service/`
}
