import type { Attributes } from '@orch/core/contracts'
import { allowed, denied, forbid, type Plugin } from '../plugin.ts'
import { admissionRuleFor, objectsOf } from './objects.ts'
import { type Container, containersOf, podOf, withSpec } from './pod.ts'

/** AlwaysPullImages: a user without access to an image cannot use a copy pulled for another user. */
export function alwaysPullImages(): Plugin {
  return {
    admissionRules: [admissionRuleFor('*', ['CREATE', 'UPDATE'], '', ['pods', 'pods/ephemeralcontainers'])],
    mutate(attributes) {
      if (bringsNoImage(attributes)) return allowed
      const pod = podOf(attributes)
      const { containers, initContainers, ephemeralContainers } = pod.spec
      const object = withSpec(pod, {
        containers: containers?.map(pulled) ?? null,
        ...(initContainers === undefined ? {} : { initContainers: initContainers.map(pulled) }),
        ...(ephemeralContainers === undefined ? {} : { ephemeralContainers: ephemeralContainers.map(pulled) }),
      })
      return { kind: 'allowed', object }
    },
    validate(attributes) {
      if (bringsNoImage(attributes)) return allowed
      const problems = containersOf(podOf(attributes))
        .filter(({ container }) => container.imagePullPolicy !== 'Always')
        .map(({ container, path }) => {
          const given = JSON.stringify(container.imagePullPolicy ?? '')
          return `${path}.imagePullPolicy: Unsupported value: ${given}: supported values: "Always"`
        })
      return problems.length === 0 ? allowed : denied(forbid(attributes, problems.join(', ')))
    },
  }
}

function pulled(container: Container): Container {
  return { ...container, imagePullPolicy: 'Always' }
}

/** An update without new images. */
function bringsNoImage(attributes: Attributes): boolean {
  const { oldObject } = objectsOf('core/v1.Pod', attributes)
  if (attributes.operation !== 'UPDATE' || oldObject === undefined) return false
  const before = new Set(containersOf(oldObject).map(({ container }) => container.image))
  return containersOf(podOf(attributes)).every(({ container }) => before.has(container.image))
}
