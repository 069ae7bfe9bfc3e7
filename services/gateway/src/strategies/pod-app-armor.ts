import {
  type AppArmorProfile,
  annotationOfProfile,
  appArmorPrefix,
  appArmorWarning,
  hasAppArmorFields,
  profileOfAnnotation,
} from '@orch/core/catalogue'
import { jsonEqual } from '@orch/core/json'
import type { BuiltIn, MutableBuiltIn } from '@orch/core/schema'
import type { NewObjectContext } from './kind-rules.ts'

type Pod = MutableBuiltIn<'core/v1.Pod'>
type Container = BuiltIn<'core/v1.Container'>

/** The last level that copies profiles from fields to annotations, for old kubelets. */
const notedUntil = 33

/** Fills the fields of profiles from the annotations that old clients write, and warns about these annotations. Up to 1.33 it also fills annotations from fields. */
export function fillAppArmorProfiles(pod: Pod, context: NewObjectContext): void {
  if (pod.spec.os?.name === 'windows' || !hasAppArmorFields(context)) return
  const prefix = appArmorPrefix(context.names)
  fillFields(pod, prefix, context)
  if (context.level <= notedUntil) fillAnnotations(pod, prefix)
}

function fillAnnotations(pod: Pod, prefix: string): void {
  const { securityContext: ofPod, initContainers, containers } = pod.spec
  for (const { name, securityContext } of [...(initContainers ?? []), ...(containers ?? [])]) {
    const profile = securityContext?.appArmorProfile ?? ofPod?.appArmorProfile
    const annotation = profile == null ? undefined : annotationOfProfile(profile)
    if (annotation === undefined || pod.metadata.annotations?.[prefix + name] !== undefined) continue
    pod.metadata = { ...pod.metadata, annotations: { ...pod.metadata.annotations, [prefix + name]: annotation } }
  }
}

function fillFields(pod: Pod, prefix: string, context: NewObjectContext): void {
  const { annotations } = pod.metadata
  if (annotations === undefined) return
  if (!Object.keys(annotations).some((key) => key.startsWith(prefix))) return
  const ofPod = pod.spec.securityContext?.appArmorProfile ?? undefined
  const fill = (container: Container): Container => {
    const key = prefix + container.name
    const annotation = annotations[key]
    if (annotation === undefined || container.securityContext?.appArmorProfile != null) return container
    const profile = profileOfAnnotation(annotation)
    if (profile !== undefined && jsonEqual(profile, ofPod)) return container
    context.warn(appArmorWarning('metadata.annotations', key))
    return profile === undefined ? container : withProfile(container, profile)
  }
  const { initContainers, containers } = pod.spec
  pod.spec = {
    ...pod.spec,
    ...(initContainers && { initContainers: initContainers.map(fill) }),
    ...(containers && { containers: containers.map(fill) }),
  }
}

/** The members stay in the order of their type, so that equal objects have equal bytes. */
function withProfile(container: Container, appArmorProfile: AppArmorProfile): Container {
  const { securityContext, stdin, stdinOnce, tty, ...rest } = container
  return {
    ...rest,
    securityContext: { ...securityContext, appArmorProfile },
    ...(stdin === undefined ? {} : { stdin }),
    ...(stdinOnce === undefined ? {} : { stdinOnce }),
    ...(tty === undefined ? {} : { tty }),
  }
}
