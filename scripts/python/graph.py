"""Cycles of a directed graph: {node: {node}}."""


def cycles(graph):
    """The sets of more than one node that reach each other, the largest first (Tarjan, without recursion)."""
    number, low, stack, held, found = {}, {}, [], set(), []
    for root in graph:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        stack.append(root)
        held.add(root)
        work = [(root, iter(graph.get(root, ())))]
        while work:
            node, edges = work[-1]
            for other in edges:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    held.add(other)
                    work.append((other, iter(graph.get(other, ()))))
                    break
                if other in held:
                    low[node] = min(low[node], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == number[node]:
                    cycle = set()
                    while True:
                        other = stack.pop()
                        held.discard(other)
                        cycle.add(other)
                        if other == node:
                            break
                    if len(cycle) > 1:
                        found.append(cycle)
    return sorted(found, key=lambda cycle: (-len(cycle), min(cycle)))
