import { type Names, subdomainLabel } from '@orch/core/names'
import { type BuiltIn, requireType } from '@orch/core/schema'
import { seccompKeys } from './baseline.ts'
import type { ContainerView, PodView } from './pod.ts'

/** Resources with a Pod template, by group. */
export const templateResources: Readonly<Record<string, readonly string[]>> = {
  '': ['replicationcontrollers', 'podtemplates'],
  apps: ['daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  batch: ['cronjobs', 'jobs'],
}

/** The members of a Pod that the checks read. */
export function podView(pod: unknown): PodView {
  const { metadata, spec } = requireType('core/v1.Pod', pod)
  return { annotations: metadata.annotations ?? {}, spec }
}

/** The template of a workload; undefined without a template. */
export function templateView(resource: string, object: unknown): PodView | undefined {
  const template = templateReaders[resource]?.(object)
  return template === undefined ? undefined : { annotations: template.metadata.annotations ?? {}, spec: template.spec }
}

/** Readers of the template in the objects of a resource. */
const templateReaders: Readonly<Record<string, (object: unknown) => BuiltIn<'core/v1.PodTemplateSpec'> | undefined>> = {
  podtemplates: (object) => requireType('core/v1.PodTemplate', object).template,
  replicationcontrollers: (object) => requireType('core/v1.ReplicationController', object).spec.template,
  cronjobs: (object) => requireType('batch/v1.CronJob', object).spec.jobTemplate.spec.template,
  jobs: (object) => requireType('batch/v1.Job', object).spec.template,
  daemonsets: (object) => requireType('apps/v1.DaemonSet', object).spec.template,
  deployments: (object) => requireType('apps/v1.Deployment', object).spec.template,
  replicasets: (object) => requireType('apps/v1.ReplicaSet', object).spec.template,
  statefulsets: (object) => requireType('apps/v1.StatefulSet', object).spec.template,
}

/** True if an update changes a member that the checks read; the rest of a Pod is immutable. */
export function isSignificantUpdate(after: PodView, before: PodView, names: Names): boolean {
  const { pod, containerPrefix } = seccompKeys(names)
  const appArmorPrefix = subdomainLabel(names, 'container.apparmor.security.beta', '')
  const changed = [...new Set([...Object.keys(after.annotations), ...Object.keys(before.annotations)])].filter(
    (key) => after.annotations[key] !== before.annotations[key],
  )
  if (changed.some((key) => key === pod || key.startsWith(containerPrefix) || key.startsWith(appArmorPrefix))) return true
  return lists.some((list) => isListChanged(after.spec[list] ?? [], before.spec[list] ?? []))
}

const lists = ['containers', 'initContainers', 'ephemeralContainers'] as const

function isListChanged(after: readonly ContainerView[], before: readonly ContainerView[]): boolean {
  if (after.length !== before.length) return true
  const images = new Map(before.map(({ name, image }) => [name, image]))
  return after.some(({ name, image }) => !images.has(name) || images.get(name) !== image)
}
