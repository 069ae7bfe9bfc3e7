import { type Names, subdomainLabel } from '../names.ts'
import type { BuiltIn } from '../schema/built-in.ts'
import { bytesOf } from '../validation/texts.ts'

/** The first level that has fields for AppArmor profiles. */
const fieldsSince = 30

/** A profile in a security context. */
export interface AppArmorProfile {
  readonly type: 'Unconfined' | 'RuntimeDefault' | 'Localhost'
  readonly localhostProfile?: string
}

/** True if AppArmor profiles have fields. A new Pod's annotations fill them. */
export function hasAppArmorFields({ level, isGateOn }: { readonly level: number; isGateOn(name: string): boolean }): boolean {
  return level >= fieldsSince && isGateOn('AppArmorFields')
}

/** The prefix of the annotations; a container's name follows. */
export function appArmorPrefix(names: Names): string {
  return subdomainLabel(names, 'container.apparmor.security.beta', '')
}

/** The warning about an annotation that a field at this path replaces. */
export function appArmorWarning(path: string, key: string): string {
  return `${path}[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`
}

export const profileBytesMax = 4095
const localhost = 'localhost/'

/** The annotation equivalent to a field; undefined if there is none. */
export function annotationOfProfile({ type, localhostProfile }: BuiltIn<'core/v1.AppArmorProfile'>): string | undefined {
  if (type === 'Unconfined') return 'unconfined'
  if (type === 'RuntimeDefault') return 'runtime/default'
  return type === 'Localhost' && localhostProfile != null ? `${localhost}${localhostProfile}` : undefined
}

/** The field equivalent to an annotation; undefined if no valid field is. */
export function profileOfAnnotation(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' }
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' }
  const name = annotation.startsWith(localhost) ? annotation.slice(localhost.length) : ''
  if (name === '' || name.trim() !== name || bytesOf(name) > profileBytesMax) return undefined
  return { type: 'Localhost', localhostProfile: name }
}
