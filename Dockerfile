# `graph-bandit` in a container; `docker build --target test` makes one that also has what the tests need.
#
#     docker build -t graph-bandit .
#     docker run --rm -v "$PWD:/work" graph-bandit suggest pool.csv --measured measured.csv --maximize y --out next.csv
#     docker run --rm -p 127.0.0.1:8765:8765 -v "$PWD:/work" graph-bandit serve . --host 0.0.0.0 \
#         --address http://127.0.0.1:8765
#
#     docker build --target test -t graph-bandit-test . && docker run --rm graph-bandit-test

FROM debian:bookworm-slim AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# PyPI's torch brings CUDA, some gigabytes; that of this index is for CPUs. It comes first, so that an edit of the sources
# does not fetch it again.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
COPY constraints.txt .
RUN python3 -m venv /opt/graph-bandit \
    && /opt/graph-bandit/bin/pip install --no-cache-dir -c constraints.txt --extra-index-url "$TORCH_INDEX" torch
COPY . .
RUN /opt/graph-bandit/bin/pip install --no-cache-dir -c constraints.txt '.[chem,parquet,serve]' \
    && /opt/graph-bandit/bin/pip uninstall --yes pip

FROM build AS test
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git libxext6 libxrender1 make \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home tester \
    && chown -R tester /src
USER tester
RUN make .venv/.installed-all
CMD ["make", "test"]

# RDKit draws molecules by libXrender and libXext, which its wheel leaves to the system.
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libxext6 libxrender1 python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home chemist \
    && install --directory --owner=chemist /work
COPY --from=build /opt/graph-bandit /opt/graph-bandit
# Caches of any user, and none of them in the folder with the data.
ENV PATH=/opt/graph-bandit/bin:$PATH \
    GRAPH_BANDIT_CACHE=/tmp/cache \
    MPLCONFIGDIR=/tmp/matplotlib
USER chemist
WORKDIR /work
EXPOSE 8765
ENTRYPOINT ["graph-bandit"]
CMD ["--help"]
