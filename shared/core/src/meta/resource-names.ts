import { namesOf, profiles } from '../names.ts'
import { checkQualifiedName } from './validate-names.ts'

/** Names of huge pages begin so: `hugepages-2Mi`. */
export const hugePagesPrefix = 'hugepages-'

const productPrefixes = profiles.map((profile) => `${namesOf(profile).labelDomain}/`)

/** Resources of huge pages, of any size. */
export const isHugePages = (name: string): boolean => name.startsWith(hugePagesPrefix)

/** Resources that Kubernetes defines: without a domain, or with the domain of a profile. */
export const isNative = (name: string): boolean => !name.includes('/') || productPrefixes.some((prefix) => name.includes(prefix))

/** An extended resource of nodes: counted in whole numbers. */
export function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith('requests.') && checkQualifiedName(`requests.${name}`).length === 0
}
