import { namesOf, profiles } from '../names.ts'
import { checkQualifiedName } from './validate-names.ts'

/** The prefix of huge page resources: `hugepages-2Mi`. */
export const hugePagesPrefix = 'hugepages-'

const productPrefixes = profiles.map((profile) => `${namesOf(profile).labelDomain}/`)

/** True for huge pages of any size. */
export const isHugePages = (name: string): boolean => name.startsWith(hugePagesPrefix)

/** True for resources that Kubernetes defines: without a domain, or with the domain of a profile. */
export const isNative = (name: string): boolean => !name.includes('/') || productPrefixes.some((prefix) => name.includes(prefix))

/** True for an extended resource of nodes, which is counted in whole numbers. */
export function isExtended(name: string): boolean {
  return !isNative(name) && !name.startsWith('requests.') && checkQualifiedName(`requests.${name}`).length === 0
}
