/** How a gateway decides who may do what. */
export const authorizationSettings = {}
