import { atomic, pointer, required } from '../description/fields.ts'
import { defineTypes, struct } from '../description/structs.ts'
import { string } from '../description/texts.ts'
import { int32, list, ref } from '../description/values.ts'

/** Types of scheduling/v1alpha3 that stable types contain. */
export const schedulingV1alpha3 = defineTypes({
  TopologyConstraint: struct({ since: 37, doc: 'A constraint on the topology that a group is placed in.' }, () => ({
    key: required(string(), 1, 'Label of nodes whose value all pods of the group must share.'),
  })),
  WorkloadPodGroupAllDisruptionMode: struct({ since: 37, doc: 'Preemption of all pods of a group at once.' }, () => ({})),
  WorkloadPodGroupBasicSchedulingPolicy: struct({ since: 37, doc: 'Each pod of the group is scheduled alone.' }, () => ({})),
  WorkloadPodGroupDisruptionMode: struct(
    { isUnion: true, since: 37, doc: 'Unit of preemption of a group. One of its fields is set.' },
    () => ({
      single: pointer(ref('scheduling/v1alpha3.WorkloadPodGroupSingleDisruptionMode'), 1, 'Single pods are preempted.'),
      all: pointer(ref('scheduling/v1alpha3.WorkloadPodGroupAllDisruptionMode'), 2, 'All pods of the group are preempted together.'),
    }),
  ),
  WorkloadPodGroupGangSchedulingPolicy: struct({ since: 37, doc: 'Pods of the group are scheduled together or not at all.' }, () => ({
    minCount: pointer(int32(), 1, 'Least number of pods that have to be placed at once.'),
  })),
  WorkloadPodGroupResourceClaim: struct({ since: 37, doc: 'A resource claim that the pods of a group share.' }, () => ({
    name: required(string(), 1, 'Name of the claim within the group.'),
    resourceClaimName: pointer(string(), 2, 'Name of a claim in the namespace. Either this or the template is set.'),
    resourceClaimTemplateName: pointer(string(), 3, 'Name of a template from which a claim is made for the group.'),
  })),
  WorkloadPodGroupSchedulingConstraints: struct({ since: 37, doc: 'Constraints on the placement of a group.' }, () => ({
    topology: atomic(list(ref('scheduling/v1alpha3.TopologyConstraint')), 1, 'Constraints on the topology.'),
  })),
  WorkloadPodGroupSchedulingPolicy: struct(
    { isUnion: true, since: 37, doc: 'Scheduling policy of a group. One of its fields is set.' },
    () => ({
      basic: pointer(ref('scheduling/v1alpha3.WorkloadPodGroupBasicSchedulingPolicy'), 1, 'Each pod is scheduled alone.'),
      gang: pointer(ref('scheduling/v1alpha3.WorkloadPodGroupGangSchedulingPolicy'), 2, 'The pods are scheduled together.'),
    }),
  ),
  WorkloadPodGroupSingleDisruptionMode: struct({ since: 37, doc: 'Preemption of single pods of a group.' }, () => ({})),
})
