import { domainGroup, domainLabel, subdomainLabel } from '@orch/core/names'
import { allowed, type Plugin, type PluginNeeds } from '../plugin.ts'
import { classReader, newestDefault } from './default-classes.ts'
import { admissionRuleFor, KeptObjects, newObject } from './objects.ts'

/** DefaultIngressClass: an Ingress without a class gets the newest default class. */
export function defaultIngressClass(needs: PluginNeeds): Plugin {
  const { names } = needs.catalogue
  const group = domainGroup(names, 'networking')
  const mark = subdomainLabel(names, 'ingressclass', 'is-default-class')
  const classes = new KeptObjects({ group, plural: 'ingressclasses' }, classReader('networking/v1.IngressClass', [mark]), needs)
  return {
    admissionRules: [admissionRuleFor('mutate', ['CREATE'], group, ['ingresses'])],
    followed: classes,
    async mutate(attributes) {
      const ingress = newObject('networking/v1.Ingress', attributes)
      if (ingress.spec?.ingressClassName != null) return allowed
      if (ingress.metadata.annotations?.[domainLabel(names, 'ingress.class')] !== undefined) return allowed
      const chosen = newestDefault(classes.values()) ?? newestDefault(await classes.latestAll())
      if (chosen === undefined) return allowed
      return { kind: 'allowed', object: { ...ingress, spec: { ...ingress.spec, ingressClassName: chosen.name } } }
    },
    close: () => classes.close(),
  }
}
