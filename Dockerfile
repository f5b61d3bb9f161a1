# The command line and the table in the browser:
#   docker build -t fogplay .
#   docker run --rm -v fogplay-cache:/cache -v "$PWD:/work" fogplay solve leduc
FROM python:3.11-slim AS build
RUN pip install --no-cache-dir build
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
RUN python -m build --wheel --outdir /wheels /source

FROM python:3.11-slim
COPY requirements.lock /tmp/requirements.lock
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir -c /tmp/requirements.lock "$(ls /wheels/*.whl)[table,ggp]" \
    && useradd --create-home player && mkdir /work /cache && chown player /work /cache
USER player
# Compiled kernels and tables of hand strength; mount a volume here to keep them.
ENV FOGPLAY_CACHE=/cache
VOLUME /cache
WORKDIR /work
ENTRYPOINT ["fogplay"]
CMD ["--help"]
