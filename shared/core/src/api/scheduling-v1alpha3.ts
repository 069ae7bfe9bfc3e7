import { atomic, defineTypes, int32, list, pointer, ref, required, string, struct } from '../description/define.ts'

/** Types of scheduling/v1alpha3 that stable types contain. */
export const schedulingV1alpha3 = defineTypes({
  TopologyConstraint: struct({ since: 37, doc: 'A constraint on the topology that a group is placed in.' }, () => ({
    key: required(string(), { tag: 1, doc: 'Label of nodes whose value all pods of the group must share.' }),
  })),
  WorkloadPodGroupAllDisruptionMode: struct({ since: 37, doc: 'Preemption of all pods of a group at once.' }, () => ({})),
  WorkloadPodGroupBasicSchedulingPolicy: struct({ since: 37, doc: 'Each pod of the group is scheduled alone.' }, () => ({})),
  WorkloadPodGroupDisruptionMode: struct(
    { union: true, since: 37, doc: 'Unit of preemption of a group. One of its fields is set.' },
    () => ({
      single: pointer(ref('scheduling/v1alpha3.WorkloadPodGroupSingleDisruptionMode'), { tag: 1, doc: 'Single pods are preempted.' }),
      all: pointer(ref('scheduling/v1alpha3.WorkloadPodGroupAllDisruptionMode'), {
        tag: 2,
        doc: 'All pods of the group are preempted together.',
      }),
    }),
  ),
  WorkloadPodGroupGangSchedulingPolicy: struct({ since: 37, doc: 'Pods of the group are scheduled together or not at all.' }, () => ({
    minCount: pointer(int32(), { tag: 1, doc: 'Least number of pods that have to be placed at once.' }),
  })),
  WorkloadPodGroupResourceClaim: struct({ since: 37, doc: 'A resource claim that the pods of a group share.' }, () => ({
    name: required(string(), { tag: 1, doc: 'Name of the claim within the group.' }),
    resourceClaimName: pointer(string(), { tag: 2, doc: 'Name of a claim in the namespace. Either this or the template is set.' }),
    resourceClaimTemplateName: pointer(string(), { tag: 3, doc: 'Name of a template from which a claim is made for the group.' }),
  })),
  WorkloadPodGroupSchedulingConstraints: struct({ since: 37, doc: 'Constraints on the placement of a group.' }, () => ({
    topology: atomic(list(ref('scheduling/v1alpha3.TopologyConstraint')), { tag: 1, doc: 'Constraints on the topology.' }),
  })),
  WorkloadPodGroupSchedulingPolicy: struct(
    { union: true, since: 37, doc: 'Scheduling policy of a group. One of its fields is set.' },
    () => ({
      basic: pointer(ref('scheduling/v1alpha3.WorkloadPodGroupBasicSchedulingPolicy'), { tag: 1, doc: 'Each pod is scheduled alone.' }),
      gang: pointer(ref('scheduling/v1alpha3.WorkloadPodGroupGangSchedulingPolicy'), { tag: 2, doc: 'The pods are scheduled together.' }),
    }),
  ),
  WorkloadPodGroupSingleDisruptionMode: struct({ since: 37, doc: 'Preemption of single pods of a group.' }, () => ({})),
})
